import HubCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tests/Peers/hubsim.py on a folder of repositories: a Hub that neither side has written. Ends with its last reference.
final class SimulatedHub {
    let address: String
    private let python: String
    private let runner: Runner
    private let process: ChildProcess
    /// While this is open the server runs, and it closes itself however this program ends.
    private let leash: Int32

    /// - Parameter flags: of hubsim.py, as `--latency`.
    init(_ root: String, _ flags: [String] = [], python: String, log: String, runner: Runner) throws {
        // hubsim.py, in a process that ends when its standard input does.
        let wrapper = """
            import os, runpy, sys, threading
            threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
            sys.argv = sys.argv[1:]
            runpy.run_path(sys.argv[0], run_name="__main__")
            """
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw AIError.system("cannot make", path: "a pipe", errno: errno) }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let output = log + ".address"
        let command = Command(
            python, ["-B", "-c", wrapper, "Tests/Peers/hubsim.py", "--root", root] + flags,
            in: Sandbox.plainEnvironment)
        process = try ChildProcess(command, output: output, error: log, input: ends[0])
        leash = ends[1]
        self.python = python
        self.runner = runner
        // It reads and hashes all it serves before its first line.
        var line = ""
        while !line.hasSuffix("\n") {
            usleep(5000)
            line = try FileSystem.text(output) ?? ""
            guard line.hasSuffix("\n") || !process.hasEnded() else {
                throw AIError(.ioError, "hubsim.py did not start: \(try FileSystem.text(log) ?? "")")
            }
        }
        address = String(line.split(separator: " ").last?.dropLast() ?? "")
    }

    deinit {
        close(leash)
        _ = try? process.wait()
    }

    /// Begins the count of requests anew.
    func forget() throws { _ = try control("reset", body: "b''") }

    /// How many requests there were since ``forget()``.
    func requests() throws -> Int {
        guard let count = Int(try control("log", body: "None")) else {
            throw AIError(.ioError, "hubsim.py gave no log of its requests")
        }
        return count
    }

    /// Asks one of hubsim.py's own addresses: the number of items in the answer. Python does it, which is there anyway.
    private func control(_ verb: String, body: String) throws -> String {
        let script = """
            import json, sys, urllib.request as u
            opener = u.build_opener(u.ProxyHandler({}))
            print(len(json.load(opener.open(sys.argv[1] + "/__sim/\(verb)", \(body)))))
            """
        return String(
            try runner.run(Command(python, ["-c", script, address], in: Sandbox.plainEnvironment)).output.dropLast()
        )
    }
}
