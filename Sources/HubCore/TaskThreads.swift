/// Where the program's tasks run: on its main thread, and on others as far as they can be made. Swift's own pool belongs to
/// Dispatch, which waits for ever where the system gives no more threads.
package final class TaskThreads: TaskExecutor {
    package static let shared = TaskThreads()
    private let pool = ThreadPool(Machine.processors)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Begins with `first`, and gives the calling thread to the tasks.
    package func join(_ first: () -> Void) { pool.join(first) }
}
