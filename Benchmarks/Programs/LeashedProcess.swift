import HubCore
import Libc

/// A server that ends with its last reference or with this program, however it ends: a shell beside it reads from a
/// pipe that then closes.
final class LeashedProcess {
    private let process: ChildProcess
    private let leash: Int32

    private static let script = """
        exec 3<&0
        "$@" </dev/null 3<&- &
        server=$!
        { read -r _ <&3; kill "$server"; } &
        reader=$!
        wait "$server"
        kill "$reader"
        """

    init(_ command: Command, output: String, error: String) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw AIError.system("cannot make", path: "a pipe", errno: errno) }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let words = ["-c", Self.script, "sh", command.program] + command.arguments
        process = try ChildProcess(
            Command("/bin/sh", words, in: command.environment), output: output, error: error, input: ends[0])
        leash = ends[1]
    }

    /// Waits until it is ready.
    ///
    /// - Throws: with what it has written to its standard error, once it has ended or taken too long.
    func wait<Value>(_ name: String, error: String, for ready: () throws -> Value?) throws -> Value {
        let limit = Clock.seconds + 120
        while true {
            if let value = try ready() { return value }
            guard !process.hasEnded(), Clock.seconds < limit else {
                let said = try FileSystem.text(error)?.split(separator: "\n").last.map(String.init) ?? ""
                throw AIError(.ioError, "\(name) did not start: \(said.printable)")
            }
            usleep(5000)
        }
    }

    deinit {
        close(leash)
        _ = try? process.wait()
    }
}
