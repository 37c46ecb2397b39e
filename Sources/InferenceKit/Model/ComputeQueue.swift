import HubCore
import Synchronization

/// A thread for work that computes or blocks: Swift's cooperative pool has one thread for each core and must not be
/// held up. One piece of work at a time, in order.
struct ComputeQueue: Sendable {
    // A model keeps its thread while it writes: that is the pool's where threads may wait.
    private let queue = SerialQueue(.blocking)

    /// Runs work without waiting for it.
    func start(_ work: @escaping @Sendable () -> Void) { queue.async(work) }

    /// Runs work and waits for it without blocking a thread. The work asks now and then whether its task was cancelled.
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

/// Set once, by whoever cancels.
private final class CancellationFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
