import HubCore
import Support
import Testing

@testable import HubCLI

/// A conversation that a test types.
struct ChatTerminal {
    let process: RunningProcess
    private let count = Lock(0)
    /// Bracketed paste begins with each line that is read, and not where one is drawn again.
    static let prompt = "\u{1B}[?2004h> "

    /// Starts `hub chat` and waits for its first prompt.
    init(_ stage: Stage, _ words: [String], with variables: [String: String] = [:], columns: UInt16 = 100)
        async throws
    {
        let own = variables.merging(["TERM": "xterm", "HUB_THREADS": "1"]) { $1 }.map {
            "\($0)=\(ShellQuoting.posix($1))"
        }
        let line = (["chat", "--color", "never"] + words).map(ShellQuoting.posix).joined(separator: " ")
        process = try stage.shell(
            "ulimit -c 0; exec env \(own.joined(separator: " ")) \"$hub\" \(line)",
            terminal: .init(columns: columns))
        try await prompt()
    }

    /// Waits for the next prompt.
    func prompt() async throws {
        let wanted = count.withLock {
            $0 += 1
            return $0
        }
        _ = try await process.waitForTerminal("prompt \(wanted)") { bytes in
            String(decoding: bytes, as: UTF8.self).ranges(of: Self.prompt).count >= wanted ? true : nil
        }
    }

    /// Types a line and waits for the next prompt.
    func say(_ line: String) async throws {
        process.write(line + "\n")
        try await prompt()
    }

    /// Ends the conversation.
    func end() async throws -> ProcessResult {
        process.write("\u{4}")
        return try await process.wait()
    }
}
