import Dispatch

/// The place for calls that block: files, digests, SQLite, waiting for locks. Swift's cooperative pool has one thread
/// for each core and must never be blocked.
package enum Offload {
    private static let queue = DispatchQueue(label: "hub.blocking", attributes: .concurrent)

    /// Runs `body` on a thread that may block.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs what cannot fail on a thread that may block.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
