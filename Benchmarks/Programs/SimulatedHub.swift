import HubCore

/// Tests/Peers/hubsim.py on a folder of repositories: a Hub that neither side has written. Ends with its last reference.
final class SimulatedHub {
    let address: String
    private let python: String
    private let runner: Runner
    private let process: LeashedProcess

    /// - Parameter flags: of hubsim.py, as `--latency`.
    init(_ root: String, _ flags: [String] = [], python: String, log: String, runner: Runner) throws {
        let output = log + ".address"
        let command = Command(
            python, ["-B", "Tests/Peers/hubsim.py", "--root", root] + flags, in: Sandbox.plainEnvironment)
        process = try LeashedProcess(command, output: output, error: log)
        self.python = python
        self.runner = runner
        // It reads and hashes all it serves before its first line.
        address = try process.wait("hubsim.py", error: log) {
            let line = try FileSystem.text(output) ?? ""
            return line.hasSuffix("\n") ? line.split(separator: " ").last.map { String($0.dropLast()) } : nil
        }
    }

    /// Its requests and sent bytes.
    struct Traffic {
        var requests: Int
        /// Bytes of content that the CDN has given to connections, whether they arrived or not.
        var contentBytes: Int64
    }

    /// Clears the log.
    func forget() throws { _ = try ask("reset", body: "b''", result: "0, 0") }

    /// The traffic since ``forget()``, once every answer is over.
    func traffic() throws -> Traffic {
        let numbers = try ask(
            "log", body: "None", result: "len(v), sum(e['sent'] for e in v if e['listener'] == 'cdn')")
        return Traffic(requests: Int(numbers.0), contentBytes: numbers.1)
    }

    /// Asks one of hubsim.py's own addresses until no answer is under way: two numbers made from what it says. Python
    /// does it, which is there anyway.
    private func ask(_ verb: String, body: String, result: String) throws -> (Int64, Int64) {
        let script = """
            import json, sys, time, urllib.request as u
            opener = u.build_opener(u.ProxyHandler({}))
            for _ in range(2000):
                v = json.load(opener.open(sys.argv[1] + "/__sim/\(verb)", \(body)))
                if not any(e["open"] for e in v): break
                time.sleep(0.01)
            else: sys.exit("an answer does not end")
            print(*(\(result)))
            """
        let output = try runner.run(Command(python, ["-c", script, address], in: Sandbox.plainEnvironment)).output
        let numbers = output.split { $0.isWhitespace }.compactMap { Int64($0) }
        guard numbers.count == 2 else { throw AIError(.ioError, "hubsim.py gave no log of its requests") }
        return (numbers[0], numbers[1])
    }
}
