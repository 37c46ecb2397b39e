import HubCore

/// A program, its arguments and its whole environment.
struct Command {
    var program: String
    var arguments: [String]
    var environment: [String: String]

    init(_ program: String, _ arguments: [String], in environment: [String: String]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    /// What a message calls it: `hub pull`.
    var name: String { ([Path.name(program)] + arguments.prefix(1)).joined(separator: " ") }
}

/// Runs programs to their end.
struct Runner {
    /// A folder for what they write.
    let folder: String

    /// Runs a program whose failure is an error.
    ///
    /// - Returns: how it ended, and its standard output.
    @discardableResult
    func run(_ command: Command) throws -> (ending: Ending, output: String) {
        let (ending, output, said) = try attempt(command)
        guard ending.status == 0 else {
            let words = said.split(separator: "\n").first.map { ": \($0)" } ?? ""
            throw AIError(
                .ioError, "\(command.name) ended with exit status \(ending.status)\(words.printable)")
        }
        return (ending, output)
    }

    /// Runs a program, however it ends.
    func attempt(_ command: Command) throws -> (ending: Ending, output: String, error: String) {
        let (output, error) = (Path.join(folder, "output"), Path.join(folder, "error"))
        let ending = try ChildProcess(command, output: output, error: error).wait()
        return (ending, try FileSystem.text(output, limit: 16 << 20) ?? "", try FileSystem.text(error) ?? "")
    }
}
