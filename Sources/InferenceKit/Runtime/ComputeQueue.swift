import HubCore
import Synchronization

/// A thread for work that computes or blocks: Swift's cooperative pool has one thread for each core and must not be
/// blocked. One piece of work at a time, in order.
struct ComputeQueue: Sendable {
    // Generation occupies its thread for long, so the queue uses the pool for blocking work.
    private let queue = SerialQueue(.blocking)

    /// Runs work without waiting for it.
    func start(_ work: @escaping @Sendable () -> Void) { queue.async(work) }

    /// Runs work and waits for it without blocking a thread. The work should check now and then whether it was
    /// cancelled.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(AIError) -> Value
    ) async throws(AIError) -> Value {
        let flag = CancellationFlag()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, AIError>, Never>) in
                queue.async {
                    continuation.resume(
                        returning: Result { () throws(AIError) in try work { flag.isSet } })
                }
            }
        } onCancel: {
            flag.set()
        }
        return try result.get()
    }
}

/// Set once, on cancellation.
private final class CancellationFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
