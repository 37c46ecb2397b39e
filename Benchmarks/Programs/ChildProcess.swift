import HubCore
import Libc

/// A running program. Its output goes to files, so that it need not be read while timing.
struct ChildProcess {
    let pid: Int32
    let program: String
    let started: Double

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - environment: all of it; nothing is inherited.
    ///   - input: the descriptor of its standard input; nil for an empty one.
    init(_ command: Command, output: String, error: String, input: Int32? = nil) throws(AIError) {
        var actions = Spawning.emptyActions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        for (descriptor, path) in [(1, output), (2, error)] as [(Int32, String)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        }
        let arguments = CStrings([command.program] + command.arguments)
        let variables = CStrings(command.environment.map { "\($0)=\($1)" })
        var child: pid_t = 0
        let begin = Clock.seconds
        let fault = posix_spawn(&child, command.program, &actions, nil, arguments.pointers, variables.pointers)
        guard fault == 0 else { throw .system("cannot start", path: command.program, errno: fault) }
        pid = child
        program = command.program
        started = begin
    }

    /// Waits for its end: wait4(2), whose figures are those of the program and of all that it waited for itself.
    func wait() throws(AIError) -> Ending {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw .system("cannot wait for", path: program, errno: errno) }
        }
        return Ending(
            status: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F),
            seconds: Clock.seconds - started, processorSeconds: usage.ru_utime.seconds + usage.ru_stime.seconds,
            peakBytes: Int64(usage.ru_maxrss) * Spawning.residentUnit)
    }

    /// kill -9.
    func kill() { sendSignal(pid, SIGKILL) }

    /// Whether it has ended. Once it has, there is nothing left to wait for.
    func hasEnded() -> Bool {
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) != 0
    }
}

/// `kill` of the C library; inside the structure the name means its own method.
private func sendSignal(_ pid: Int32, _ signal: Int32) { kill(pid, signal) }

/// A program's exit status and resource use.
struct Ending {
    /// The exit status; 128 + the signal where a signal ended it.
    var status: Int32
    var seconds: Double
    /// User and system time.
    var processorSeconds: Double
    var peakBytes: Int64
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

/// A null-terminated array of C strings.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        pointers = .allocate(capacity: count + 1)
        for (offset, text) in texts.enumerated() { pointers[offset] = strdup(text) }
        pointers[count] = nil
    }

    deinit {
        for offset in 0..<count { free(pointers[offset]) }
        pointers.deallocate()
    }
}
