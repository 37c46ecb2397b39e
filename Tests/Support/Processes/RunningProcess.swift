import CSupport
import HubCore
import Libc

/// A real program that a test started. Killed with its process group when the last reference goes.
package final class RunningProcess: Sendable {
    /// A pseudo-terminal and which of the program's descriptors it is.
    package struct Terminal: Sendable {
        package struct Streams: OptionSet, Sendable {
            package let rawValue: Int32
            package init(rawValue: Int32) { self.rawValue = rawValue }
            package static let input = Streams(rawValue: 1)
            package static let output = Streams(rawValue: 2)
            package static let error = Streams(rawValue: 4)
            package static let all: Streams = [.input, .output, .error]
        }
        package var streams: Streams
        package var columns: UInt16
        package var rows: UInt16

        package init(_ streams: Streams = .all, columns: UInt16 = 80, rows: UInt16 = 24) {
            self.streams = streams
            self.columns = columns
            self.rows = rows
        }
    }

    private enum Place: Sendable { case output, error, terminal }
    private struct State {
        var streams: [Place: [UInt8]] = [:]
        var openStreams = 0
        var ending: (status: Int32, wasKilled: Bool)?
        /// Open until it was closed; -1 then.
        var input: Int32
    }
    private let state: Monitor<State>
    package let pid: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - environment: all of it; nothing is inherited, so that no variable of the machine changes a test, but a
    ///     sanitizer's options, for the program is built with it as the tests are, and how long it may wait for a Hub
    ///     on a busy machine; see ``TestTimeout``.
    ///   - input: written to its standard input, which is then closed; nil leaves it open for ``write(_:)``.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil,
        input: [UInt8]? = [], terminal: Terminal? = nil
    ) throws {
        // A program that ends before it has read its input must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        let environment = TestTimeout.variables.merging(environment) { $1 }.merging(Sanitizer.options) { $1 }
        var process = support_process()
        let fault = Self.withStrings([path] + arguments) { arguments in
            Self.withStrings(environment.map { "\($0)=\($1)" }) { environment in
                support_spawn(
                    path, arguments, environment, directory, terminal?.streams.rawValue ?? 0,
                    terminal?.columns ?? 0, terminal?.rows ?? 0, &process)
            }
        }
        guard fault == 0 else { throw AIError.system("cannot start", path: path, errno: fault) }
        pid = process.pid
        state = Monitor(State(input: process.input))
        read(process.output, into: .output)
        read(process.error, into: .error)
        read(process.terminal, into: .terminal, closes: process.terminal != process.input)
        let (pid, state) = (process.pid, state)
        Thread.start {
            var signalled: Int32 = 0
            let status = support_wait(pid, &signalled)
            state.update { $0.ending = (status, signalled != 0) }
        }
        if let input, terminal?.streams.contains(.input) != true {
            // On a separate thread: a program that does not read must not block the test.
            let descriptor = process.input
            Thread.start {
                Self.write(input, to: descriptor)
                state.update {
                    close($0.input)
                    $0.input = -1
                }
            }
        }
    }

    deinit {
        state.update { state in
            // Not once it has ended: the number may be another program's by then.
            if state.ending == nil { kill(-pid, SIGKILL) }
            if state.input >= 0 { close(state.input) }
            state.input = -1
        }
    }

    /// Sends a signal to the program alone, unless it has ended.
    package func send(_ signal: Int32) { state.update { if $0.ending == nil { kill(pid, signal) } } }
    /// SIGINT, as Ctrl-C sends it.
    package func interrupt() { send(SIGINT) }
    /// SIGKILL: what no program can clean up after.
    package func killHard() { send(SIGKILL) }

    /// Writes to its standard input or its terminal: `"\u{3}"` there is Ctrl-C.
    package func write(_ text: String) { Self.write(Array(text.utf8), to: state.update { $0.input }) }

    /// Whether its terminal echoes input; nil without a terminal.
    package var terminalEchoes: Bool? {
        var mode = termios()
        // Asked on this side of a pseudo-terminal it is the mode of the other.
        guard state.update({ tcgetattr($0.input, &mode) }) == 0 else { return nil }
        return mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// The complete mode of its terminal; nil without a terminal.
    package var terminalMode: [UInt32]? {
        var mode = termios()
        guard state.update({ tcgetattr($0.input, &mode) }) == 0 else { return nil }
        let keys = withUnsafeBytes(of: &mode.c_cc) { $0.map { UInt32($0) } }
        return [mode.c_iflag, mode.c_oflag, mode.c_cflag, mode.c_lflag].map { UInt32($0) } + keys
    }

    /// Gives its terminal another size, as a window does that is pulled at.
    package func resizeTerminal(columns: UInt16, rows: UInt16) throws {
        let fault = state.update { support_resize($0.input, columns, rows) }
        guard fault == 0 else { throw AIError.system("cannot resize", path: "the terminal", errno: fault) }
    }

    /// Waits until what it has written to its terminal is so. `body` gets all of it each time.
    package func waitForTerminal<Value: Sendable>(
        _ what: String, seconds: Double = TestTimeout.seconds, _ body: @escaping @Sendable ([UInt8]) -> Value?
    ) async throws -> Value {
        try await output(what, seconds: seconds) { body($0[.terminal] ?? []) }
    }

    /// Waits until what it has written so far gives a value.
    ///
    /// - Throws: ``ProcessEnded`` as soon as it has ended and written nothing that does.
    private func output<Value: Sendable>(
        _ what: String, seconds: Double, _ body: @escaping @Sendable ([Place: [UInt8]]) -> Value?
    ) async throws -> Value {
        try await state.value(what, seconds: seconds) { state -> Result<Value, ProcessEnded>? in
            if let value = body(state.streams) { return .success(value) }
            guard state.ending != nil, state.openStreams == 0 else { return nil }
            let written = state.streams.values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
            return .failure(ProcessEnded(what: what, written: written))
        }.get()
    }

    /// Waits until it has ended and everything it wrote has been read.
    package func wait(seconds: Double = TestTimeout.seconds) async throws -> ProcessResult {
        try await state.value("the end of process \(pid)", seconds: seconds) { state in
            guard let ending = state.ending, state.openStreams == 0 else { return nil }
            return ProcessResult(
                status: ending.status, wasKilled: ending.wasKilled, outputBytes: state.streams[.output] ?? [],
                errorBytes: state.streams[.error] ?? [], terminalBytes: state.streams[.terminal] ?? [])
        }
    }

    /// Waits for output of one of several processes.
    package static func waitForOne(of processes: [RunningProcess], toSay text: String) async throws {
        let told = Monitor(false)
        for process in processes {
            Task {
                try await process.wait(forText: text)
                told.update { $0 = true }
            }
        }
        _ = try await told.value("that one of them says \"\(text)\"") { $0 ? true : nil }
    }

    /// Waits until it has written a text anywhere; what it has written until then.
    @discardableResult
    package func wait(forText text: String, seconds: Double = TestTimeout.seconds) async throws -> String {
        try await output("\"\(text)\" in the output of process \(pid)", seconds: seconds) { streams in
            streams.values.map { String(decoding: $0, as: UTF8.self) }.first { $0.range(of: text) != nil }
        }
    }

    /// Runs a program to its end.
    package static func run(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil,
        input: [UInt8] = [], terminal: Terminal? = nil, seconds: Double = TestTimeout.seconds
    ) async throws -> ProcessResult {
        let process = try RunningProcess(
            path, arguments, environment: environment, directory: directory, input: input, terminal: terminal)
        return try await process.wait(seconds: seconds)
    }

    private func read(
        _ descriptor: Int32, into place: Place, closes: Bool = true
    ) {
        guard descriptor >= 0 else { return }
        state.update { $0.openStreams += 1 }
        Thread.start { [state] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0) }
                // A terminal whose other side is closed gives EIO on Linux, where a pipe gives 0.
                if count <= 0 { break }
                state.update { $0.streams[place, default: []] += buffer[..<count] }
            }
            state.update { $0.openStreams -= 1 }
            if closes { close(descriptor) }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { systemWrite(descriptor, $0) }
    }

    private static func withStrings<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = texts.map { strdup($0) } + [nil]
        defer { copies.forEach { free($0) } }
        return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}

/// `read` of the C library; inside the class the name means its own method.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count >= 0 || errno != EINTR { return count }
    }
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) {
    var rest = buffer[...]
    while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
    }
}

/// A program ended before it wrote what a test waits for.
package struct ProcessEnded: Error, CustomStringConvertible {
    var what: String
    var written: String
    package var description: String { "the process ended before \(what); it wrote:\n\(written)" }
}
