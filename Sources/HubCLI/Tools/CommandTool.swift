import HubCore
import InferenceKit
import Libc

/// A program as a tool: `--tool CMD`. It gets the arguments as JSON on its standard input and answers on its standard
/// output.
struct CommandTool: Tool {
    let name: String
    let description: String
    let parameters: JSON
    private let path: String
    private let environment: [String: String]
    private let limits: ToolProcess.Limits
    private let log: @Sendable (String) -> Void

    /// - Parameter command: a path, or the name of a program in PATH.
    /// - Throws: ``ErrorCode/invalidInput`` for what is no program, for a name that no tool can have, and for a description
    ///   beside it that cannot be read.
    init(
        _ command: String, _ environment: HubEnvironment, limits: ToolProcess.Limits = ToolProcess.Limits(),
        log: @escaping @Sendable (String) -> Void
    ) throws(AIError) {
        guard let path = try Self.find(command, environment) else {
            throw AIError(
                .invalidInput, "--tool: there is no program \(command.printable)",
                advice: "write the path of a program that may be executed")
        }
        self.path = path
        // An ending is not part of what a model calls it.
        name = String(Path.name(path).prefix { $0 != "." })
        guard !name.isEmpty, name.utf8.count <= 64,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) })
        else {
            throw AIError(
                .invalidInput, "--tool: \"\(name.printable)\" cannot be the name of a tool",
                advice: "rename the program: up to 64 letters, digits, _ and -")
        }
        let sheet = try Self.sheet(path + ".json")
        description = sheet["description"]?.string ?? "Runs the program \(name)."
        parameters = sheet["parameters"] ?? .object(["type": "object"])
        self.environment = ToolEnvironment.without(secretsOf: environment.variables(without: []))
        self.limits = limits
        self.log = log
    }

    private static func find(_ command: String, _ environment: HubEnvironment) throws(AIError) -> String? {
        func runs(_ path: String) throws(AIError) -> Bool {
            guard access(path, X_OK) == 0 else { return false }
            return try FileSystem.status(path)?.kind == .file
        }
        if command.contains("/") {
            let path = environment.expand(command)
            return try runs(path) ? path : nil
        }
        for folder in (environment["PATH"] ?? "").split(separator: ":") where folder.hasPrefix("/") {
            let path = Path.join(String(folder), command)
            if try runs(path) { return path }
        }
        return nil
    }

    /// What stands beside the program: `description`, and `parameters`, a JSON Schema.
    private static func sheet(_ path: String) throws(AIError) -> JSON {
        guard let bytes = try FileSystem.contents(path, limit: 1 << 20) else { return .object([:]) }
        func fault(_ what: String) -> AIError {
            AIError(.invalidInput, "--tool: \(path) \(what)", context: .init(path: path))
        }
        let json: JSON
        do { json = try JSON.parse(bytes) } catch { throw fault("is \(error.description)") }
        guard json.object != nil else { throw fault("is not a JSON object") }
        if let description = json.object?["description"], description.string == nil {
            throw fault("has a description that is not a text")
        }
        if let parameters = json.object?["parameters"], parameters.object == nil {
            throw fault("has parameters that are not a JSON Schema of an object")
        }
        return json
    }

    func call(arguments: JSONObject) async throws -> String {
        let input = Array((JSON.object(arguments).text() + "\n").utf8)
        let result = try await ToolProcess.run(path, environment: environment, input: input, limits: limits)
        let errors = String(decoding: result.errors, as: UTF8.self).trimmed
        if !errors.isEmpty { log("\(name): \(errors.printable)") }
        let because = errors.isEmpty ? "" : ": \(String(errors.suffix(1000)))"
        switch result.end {
        case .status(0): break
        case .status(let status): throw failure("failed with status \(status)\(because)")
        case .signal(let signal): throw failure("was ended by signal \(signal)\(because)")
        case .outOfTime: throw failure("took longer than \(Int(limits.seconds)) seconds")
        case .tooMuch: throw failure("answered with more than \(ByteCount(Int64(limits.output)))")
        }
        guard let text = String(validating: result.output, as: UTF8.self) else {
            throw failure("answered with bytes that are not UTF-8")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private func failure(_ what: String) -> AIError { AIError(.ioError, "\(name) \(what)") }
}
