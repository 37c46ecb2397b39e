import CPlatform
import HubCore
import Libc

/// A program that runs once, in a process group of its own: a text in, a text out. Whatever ends it ends the whole group.
final class ToolProcess: Sendable {
    /// What bounds it.
    struct Limits: Sendable {
        var seconds = 60.0
        /// Bytes of its output.
        var output = 1 << 20
        /// Bytes that are kept of what it says of errors.
        var errors = 16 << 10
    }

    /// How it ended.
    enum End: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
        case outOfTime
        case tooMuch
    }

    /// What it left behind.
    struct Result: Sendable {
        var end: End
        var output: [UInt8]
        var errors: [UInt8]
    }

    private struct State {
        var process: pid_t?
        var isCancelled = false
    }
    private let state = Lock(State())

    /// Runs a program to its end. A cancelled task kills it.
    ///
    /// - Throws: ``ErrorCode/ioError`` if it cannot be started, ``ErrorCode/cancelled``.
    static func run(
        _ path: String, environment: [String: String], input: [UInt8], limits: Limits
    ) async throws -> Result {
        let process = ToolProcess()
        return try await withTaskCancellationHandler {
            let result = try await Blocking.run { try process.run(path, environment, input, limits) }
            try Task.checkCancellation()
            return result
        } onCancel: {
            process.cancel()
        }
    }

    private func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let process = state.process { kill(-process, SIGKILL) }
        }
    }

    private func run(
        _ path: String, _ environment: [String: String], _ input: [UInt8], _ limits: Limits
    ) throws(AIError) -> Result {
        var pipes: [Int32] = [-1, -1, -1]
        let process = try start(path, environment, &pipes)
        var exchange = Exchange(pipes, input, limits)
        let wasEnded = exchange.run(process)
        // The group goes with it: nothing that it has started is left behind.
        kill(-process, SIGKILL)
        let isTooMuch = exchange.drain()
        var status: Int32 = 0
        state.withLock { state in
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            state.process = nil
        }
        exchange.close()
        // The lower seven bits are the signal's. wait(2)
        let own: End = status & 0x7F == 0 ? .status((status >> 8) & 0xFF) : .signal(status & 0x7F)
        let end = wasEnded ?? (isTooMuch ? .tooMuch : own)
        return Result(end: end, output: exchange.output, errors: exchange.errors)
    }

    private func start(
        _ path: String, _ environment: [String: String], _ pipes: inout [Int32]
    ) throws(AIError) -> pid_t {
        let variables = environment.map { "\($0)=\($1)" }
        var process: pid_t = 0
        let fault = state.withLock { state in
            guard !state.isCancelled else { return ECANCELED }
            let fault = Self.strings([path]) { arguments in
                Self.strings(variables) { hub_start_piped(path, arguments, $0, &process, &pipes) }
            }
            if fault == 0 { state.process = process }
            return fault
        }
        guard fault != ECANCELED else { throw AIError(.cancelled, "interrupted") }
        guard fault == 0 else { throw .system("cannot start", path: path, errno: fault) }
        return process
    }

    private static func strings<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = texts.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}

/// What goes in and out of a program.
private struct Exchange {
    private var pipes: [Int32]
    private var input: ArraySlice<UInt8>
    private let limits: ToolProcess.Limits
    private(set) var output: [UInt8] = []
    private(set) var errors: [UInt8] = []

    init(_ pipes: [Int32], _ input: [UInt8], _ limits: ToolProcess.Limits) {
        (self.pipes, self.input, self.limits) = (pipes, input[...], limits)
    }

    /// Writes and reads until the program has exited, or something ends it.
    mutating func run(_ process: pid_t) -> ToolProcess.End? {
        let end = Clock.seconds + limits.seconds
        while true {
            if input.isEmpty { close(0) }
            // What it has started may keep its output open when it has exited.
            if hub_has_exited(process) != 0 { return nil }
            guard Clock.seconds < end else { return .outOfTime }
            let isSilent = pipes[1] < 0 && pipes[2] < 0
            step(milliseconds: isSilent ? 5 : 50)
            if output.count > limits.output { return .tooMuch }
        }
    }

    /// Reads what is there; whether that is more than the output may have.
    mutating func drain() -> Bool {
        while output.count <= limits.output, step(milliseconds: 0) {}
        let isTooMuch = output.count > limits.output
        output = Array(output.prefix(limits.output))
        return isTooMuch
    }

    mutating func close() {
        for place in 0..<3 { close(place) }
    }

    private mutating func close(_ place: Int) {
        guard pipes[place] >= 0 else { return }
        _ = closeDescriptor(pipes[place])
        pipes[place] = -1
    }

    /// Waits for one of the pipes. Whether anything was read or written.
    @discardableResult
    private mutating func step(milliseconds: Int32) -> Bool {
        var waiting = pipes.enumerated().map { place, pipe in
            pollfd(fd: pipe, events: Int16(place == 0 ? POLLOUT : POLLIN), revents: 0)
        }
        guard poll(&waiting, nfds_t(waiting.count), milliseconds) > 0 else { return false }
        var moved = false
        for place in 0..<3 where waiting[place].revents != 0 {
            moved = (place == 0 ? write() : read(place)) || moved
        }
        return moved
    }

    private mutating func write() -> Bool {
        let count = input.withUnsafeBytes { writeDescriptor(pipes[0], $0.baseAddress, $0.count) }
        guard count > 0 else {
            // It does not read its input.
            if count < 0, errno != EAGAIN, errno != EINTR { input = [] }
            return false
        }
        input = input.dropFirst(count)
        return true
    }

    private mutating func read(_ place: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = buffer.withUnsafeMutableBytes { readDescriptor(pipes[place], $0.baseAddress, $0.count) }
        guard count > 0 else {
            if count == 0 || errno != EINTR { close(place) }
            return false
        }
        if place == 1 {
            output += buffer[..<count]
        } else {
            errors += buffer[..<min(count, max(0, limits.errors - errors.count))]
        }
        return true
    }
}

// Within the type the names mean its own functions.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func readDescriptor(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
private func writeDescriptor(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
