package import Testing

/// Runs the tests of a suite on threads with as much stack as callers have. Swift's own threads have 512 KiB on macOS,
/// which is not enough for an unoptimised parser at its limit of depth.
package struct LargeStack: SuiteTrait, TestScoping {
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor(), operation: function)
    }
}

extension Trait where Self == LargeStack {
    package static var largeStack: LargeStack { LargeStack() }
}

/// A thread for each job.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.start { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
