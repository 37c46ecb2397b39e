import Dispatch

/// Threads that are made as work comes, up to a number, and then kept.
///
/// Where the system gives no more threads, Dispatch waits for one for ever. A pool does with those it has; without any, the
/// caller does the work.
package final class ThreadPool: Sendable {
    package typealias Job = @Sendable () -> Void

    /// For work that waits: for the disk, for SQLite, for the lock of another process. No job waits for another one.
    package static let blocking = ThreadPool(hasRoom ? 64 : 4)
    /// For work that computes.
    package static let computing = ThreadPool(hasRoom ? Machine.processors : min(2, Machine.processors))

    /// Whether there may be a stack for every thread that work could use.
    private static let hasRoom = Machine.addressSpaceLimit == nil

    private struct State {
        /// nil asks the thread that takes it to end.
        var jobs: [Job?] = []
        var threads = 0
        /// Threads that wait for a job.
        var idle = 0
        /// How many threads there may be.
        var most: Int
    }

    /// How many threads there may be at most.
    package let most: Int
    private let state: Lock<State>
    /// Counts the jobs that wait.
    private let waiting = DispatchSemaphore(value: 0)
    /// Makes a thread.
    private let start: @Sendable (@escaping Job) throws(AIError) -> Void

    package init(
        _ most: Int,
        start: @escaping @Sendable (@escaping Job) throws(AIError) -> Void = { job throws(AIError) in
            try BackgroundThread.start(job)
        }
    ) {
        self.most = most
        self.start = start
        state = Lock(State(most: most))
    }

    /// Runs a job soon, on a thread of the pool; on the caller's where there is none and none can be made.
    package func run(_ job: @escaping Job) {
        let ended = state.withLock { state -> Int? in
            var ended = 0
            if state.jobs.count >= state.idle, state.threads < state.most { ended = grow(&state) }
            guard state.threads > 0 else { return nil }
            state.jobs.append(job)
            return ended
        }
        guard let ended else { return job() }
        for _ in 0...ended { waiting.signal() }
    }

    /// Makes the calling thread one of the pool's, which begins with `first`.
    package func join(_ first: () -> Void) {
        state.withLock {
            $0.threads += 1
            $0.idle += 1
        }
        first()
        serve()
    }

    /// Adds a thread. Where that fails, half of them end, so that others in this process find one: libcurl looks up the
    /// address of a host on a thread of its own.
    ///
    /// - Returns: how many threads were asked to end.
    private func grow(_ state: inout State) -> Int {
        do throws(AIError) {
            try start { [self] in serve() }
            state.threads += 1
            state.idle += 1
            return 0
        } catch {
            guard state.threads > 0 else { return 0 }
            let surplus = state.threads / 2
            state.most = state.threads - surplus
            state.jobs += [Job?](repeating: nil, count: surplus)
            return surplus
        }
    }

    private func serve() {
        while true {
            waiting.wait()
            let job = state.withLock { state -> Job? in
                state.idle -= 1
                let job = state.jobs.removeFirst()
                if job == nil { state.threads -= 1 }
                return job
            }
            guard let job else { return }
            job()
            state.withLock { $0.idle += 1 }
        }
    }
}

/// Jobs that run one after the other, on a thread of a pool.
package final class SerialQueue: Sendable {
    private let pool: ThreadPool
    private let state = Lock((jobs: [ThreadPool.Job](), isAtWork: false))

    package init(_ pool: ThreadPool) { self.pool = pool }

    /// Runs a job when all before it are done.
    package func async(_ job: @escaping ThreadPool.Job) {
        let begins = state.withLock { state in
            state.jobs.append(job)
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        if begins { pool.run { [self] in work() } }
    }

    private func work() {
        while let jobs = next() {
            for job in jobs { job() }
        }
    }

    /// The jobs that wait; nil where there are none, which ends the work.
    private func next() -> [ThreadPool.Job]? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.isAtWork = false
                return nil
            }
            defer { state.jobs = [] }
            return state.jobs
        }
    }
}
