import HubCore
import Support
import Testing

/// The helper that runs real programs, with programs that every system has.
@Suite struct RunningProcessTests {
    private let shell = "/bin/sh"

    @Test func outputErrorAndStatus() async throws {
        let result = try await RunningProcess.run(
            shell, ["-c", "cat; echo \"$NAME\"; echo oops >&2; exit 7"], environment: ["NAME": "value"],
            input: Array("from input\n".utf8))
        #expect(result.status == 7)
        #expect(!result.wasKilled)
        #expect(result.output == "from input\nvalue\n")
        #expect(result.error == "oops\n")
    }

    @Test func nothingIsInherited() async throws {
        let result = try await RunningProcess.run("/usr/bin/env", environment: ["ONLY": "1"])
        let lines = result.output.split(separator: "\n").filter { line in
            !Sanitizer.options.keys.contains { line.hasPrefix($0) }
        }
        // What the harness itself sets; a test's own value goes before it.
        let patience = TestTimeout.variables.map { "\($0)=\($1)" }
        #expect(lines.map(String.init).sorted() == (["ONLY=1"] + patience).sorted())
        let own = try await RunningProcess.run("/usr/bin/env", environment: ["HF_HUB_ETAG_TIMEOUT": "7"])
        #expect(own.output.contains("HF_HUB_ETAG_TIMEOUT=7\n"))
    }

    @Test func directory() async throws {
        let folder = try TemporaryFolder()
        #expect(
            try await RunningProcess.run("/bin/pwd", ["-P"], directory: folder.path).output == folder.path + "\n")
    }

    @Test func aMissingProgramIsAnError() {
        #expect(throws: AIError.self) { try RunningProcess("/nonexistent/program") }
    }

    @Test func killHard() async throws {
        let process = try RunningProcess(shell, ["-c", "trap '' INT TERM; echo ready; read x"], input: nil)
        try await process.wait(forText: "ready")
        process.killHard()
        let result = try await process.wait()
        #expect(result.wasKilled)
        #expect(result.status == 128 + 9)
    }

    @Test func interrupt() async throws {
        let process = try RunningProcess(
            shell, ["-c", "trap 'echo caught; exit 3' INT; echo ready; read x"], input: nil)
        try await process.wait(forText: "ready")
        process.interrupt()
        let result = try await process.wait()
        #expect(result.status == 3)
        #expect(result.output == "ready\ncaught\n")
    }

    @Test func terminal() async throws {
        let plain = try await RunningProcess.run(shell, ["-c", "test -t 0 || test -t 1 || test -t 2 || echo none"])
        #expect(plain.output == "none\n")
        let process = try RunningProcess(
            shell, ["-c", "test -t 0 && test -t 1 && test -t 2 && stty size && read x && echo \"got $x\""],
            environment: ["PATH": "/usr/bin:/bin"], terminal: .init(columns: 101, rows: 33))
        try await process.wait(forText: "33 101")
        process.write("typed\n")
        let result = try await process.wait()
        #expect(result.status == 0)
        #expect(result.terminal.contains("got typed"))
        #expect(result.output.isEmpty)
    }

    @Test func controlC() async throws {
        let process = try RunningProcess(
            shell, ["-c", "trap 'echo caught; exit 3' INT; echo ready; read x"], terminal: .init())
        try await process.wait(forText: "ready")
        process.write("\u{3}")
        #expect(try await process.wait().status == 3)
    }

    @Test func onlyErrorsOnTheTerminal() async throws {
        let result = try await RunningProcess.run(
            shell, ["-c", "test -t 2 && ! test -t 1 && echo out && echo err >&2"], terminal: .init(.error))
        #expect(result.output == "out\n")
        #expect(result.terminal == "err\r\n")
    }

    @Test func theBuiltProgramIsFound() throws {
        #expect(try BuiltProduct.path("hub").hasSuffix("/hub"))
        #expect(throws: AIError.self) { try BuiltProduct.path("no-such-product") }
    }
}
