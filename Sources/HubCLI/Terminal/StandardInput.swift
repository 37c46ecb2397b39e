import HubCore
import Libc

/// What is read from stdin, on threads of their own: a read may never return, and cancellation does not wait for it.
enum StandardInput {
    /// A line of a terminal, which hands out one at a time, without its end; nil if the input has ended.
    ///
    /// Once it is cancelled nothing is read any more: the next line is for who asks next.
    static func line() async throws -> String? {
        let wake = try WakePipe()
        return try await withTaskCancellationHandler {
            try await apart {
                var bytes: [UInt8] = []
                while !bytes.contains(UInt8(ascii: "\n")), try wake.waits(for: 0) {
                    guard let more = try read() else { break }
                    bytes += more
                }
                return bytes.isEmpty
                    ? nil : String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            }
        } onCancel: {
            wake.wake()
        }
    }

    /// Everything until the end.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` beyond so many bytes.
    static func text(limit: Int) async throws -> String {
        String(decoding: try await bytes(limit: limit), as: UTF8.self)
    }

    /// The same as bytes, for what has to be UTF-8 by itself.
    static func bytes(limit: Int) async throws -> [UInt8] {
        try await apart { try whole(0, "standard input", limit) }
    }

    /// The bytes of a pipe or device with a path, such as the shell's `<(command)`. Opening it may never return either.
    static func bytes(ofPipe path: String, limit: Int) async throws -> [UInt8] {
        try await apart {
            let pipe = try FileDescriptor(path)
            return try whole(pipe.raw, path, limit)
        }
    }

    private static func whole(_ descriptor: Int32, _ name: String, _ limit: Int) throws(AIError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let more = try read(descriptor, name) {
            bytes += more
            guard bytes.count <= limit else {
                throw AIError(.invalidInput, "\(name.printable) has more than \(limit) bytes")
            }
        }
        return bytes
    }

    /// What there is, but at least a byte; nil at the end.
    private static func read(_ descriptor: Int32 = 0, _ name: String = "standard input") throws(AIError) -> [UInt8]?
    {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0) }
            if count > 0 { return Array(buffer[..<count]) }
            if count == 0 { return nil }
            if errno == EAGAIN || errno == EWOULDBLOCK {
                // Another process that shares the descriptor may have made it non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw .system("cannot read", path: name, errno: errno)
            }
        }
    }

    /// Runs what may never return, without waiting for it once it is cancelled.
    static func apart<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let waiting = Once<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.begin(continuation)
                do throws(AIError) {
                    try BackgroundThread.start { waiting.resume(Result(catching: body)) }
                } catch { waiting.resume(.failure(error)) }
            }
        } onCancel: {
            waiting.resume(.failure(CancellationError()))
        }
    }
}

/// `read` of the C library; inside the enumeration the name means its own function.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

/// A continuation that is resumed once, by whichever result comes first.
private final class Once<Value: Sendable>: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Value, any Error>)
        case early(Result<Value, any Error>)
        case done
    }

    private let state = Lock(State.idle)

    func begin(_ continuation: CheckedContinuation<Value, any Error>) {
        let early: Result<Value, any Error>? = state.withLock { state in
            if case .early(let result) = state {
                state = .done
                return result
            }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(with: early) }
    }

    func resume(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .idle: state = .early(result)
            case .waiting(let continuation):
                state = .done
                return continuation
            case .early, .done: break
            }
            return nil
        }
        continuation?.resume(with: result)
    }
}
