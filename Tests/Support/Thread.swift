import HubCore

/// Threads of the system, for calls that block. Neither Swift's pool, which has one thread for each core, nor
/// Dispatch's, which has 64, may be filled with waiting tests.
package enum Thread {
    /// Runs `body` on a new thread.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        do { try BackgroundThread.start(body) } catch { preconditionFailure("\(error)") }
    }

    /// Runs `body` on a new thread and waits for it without blocking.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: Result(catching: body)) }
        }
    }
}
