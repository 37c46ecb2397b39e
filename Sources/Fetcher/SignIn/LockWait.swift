import HubCore
import Libc

/// Waits for a lock that other processes hold for moments.
enum LockWait {
    /// Runs the closure while holding a lock; without, if the file system has none.
    ///
    /// - Parameters:
    ///   - seconds: how long to wait for it.
    ///   - onWait: called once if it is held.
    /// - Throws: ``ErrorCode/ioError`` if it is held for longer.
    static func with<Value: Sendable>(
        _ path: String, seconds: Double = 30, onWait: @escaping @Sendable () -> Void = {},
        _ body: () async throws -> Value
    ) async throws -> Value {
        let isCancelled = Lock(false)
        let held = try await withTaskCancellationHandler {
            try await Blocking.run { try take(path, seconds, isCancelled, onWait) }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        defer { withExtendedLifetime(held) {} }
        return try await body()
    }

    /// A class, so that a noncopyable lock can be returned through a continuation.
    private final class Held: Sendable {
        private let lock: FileLock?
        init(_ lock: consuming FileLock?) { self.lock = lock }
    }

    private static func take(
        _ path: String, _ seconds: Double, _ isCancelled: Lock<Bool>, _ onWait: () -> Void
    ) throws -> Held {
        let deadline = Clock.seconds + seconds
        var waits = false
        while true {
            let attempt = try FileLock.attempt(path)
            switch consume attempt {
            case .taken(let lock): return Held(lock)
            case .unsupported: return Held(nil)
            case .held: break
            }
            if isCancelled.withLock(\.self) { throw CancellationError() }
            guard Clock.seconds < deadline else {
                throw AIError(
                    .ioError, "another program holds \(path)", advice: "end it, and try again",
                    context: .init(path: path))
            }
            if !waits { onWait() }
            waits = true
            usleep(20_000)
        }
    }
}
