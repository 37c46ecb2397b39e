/// The executor of the program's tasks: its main thread, and others if they can be created. Swift's own pool belongs to
/// Dispatch, which waits indefinitely if the system has no more threads.
package final class TaskThreads: TaskExecutor {
    package static let shared = TaskThreads()
    private let pool = ThreadPool(Machine.processors)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Starts with `first`, and runs tasks on the calling thread.
    package func join(_ first: () -> Void) { pool.join(first) }
}
