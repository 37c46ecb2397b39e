import Synchronization

/// Runs blocking calls: files, digests, SQLite, waiting for locks. Swift's cooperative pool has one thread for each
/// core and must never be blocked.
package enum Blocking {
    /// Runs `body` on a thread that may block.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            ThreadPool.blocking.run { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs a non-throwing `body` on a thread that may block.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            ThreadPool.blocking.run { continuation.resume(returning: body()) }
        }
    }

    /// Runs a long `body` on a thread that may block.
    ///
    /// - Parameter body: gets a closure that throws `CancellationError` once the task is cancelled.
    package static func runCancellable<Value: Sendable>(
        _ body: @escaping @Sendable (_ check: @escaping @Sendable () throws -> Void) throws -> Value
    ) async throws -> Value {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await run { try body { if flag.isSet.load(ordering: .relaxed) { throw CancellationError() } } }
        } onCancel: {
            flag.isSet.store(true, ordering: .relaxed)
        }
    }

    private final class CancellationFlag: Sendable {
        let isSet = Atomic(false)
    }
}
