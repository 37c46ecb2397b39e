import Dispatch

/// A pool of threads, created on demand up to a limit, and kept.
///
/// If the system has no more threads, Dispatch waits for one indefinitely. This pool continues with those it has;
/// without any, the caller does the work.
package final class ThreadPool: Sendable {
    package typealias Job = @Sendable () -> Void

    /// For blocking work: disk, SQLite, locks of other processes. No job waits for another one.
    package static let blocking = ThreadPool(hasRoom ? 64 : 4)
    /// For work that computes.
    package static let computing = ThreadPool(hasRoom ? Machine.processors : min(2, Machine.processors))

    /// Whether the address space suffices for the stacks of all threads.
    private static let hasRoom = Machine.addressSpaceLimit == nil

    private struct State {
        /// nil asks the thread that takes it to end.
        var jobs: [Job?] = []
        var threads = 0
        /// Number of idle threads.
        var idle = 0
        /// The current limit of threads.
        var most: Int
    }

    /// The maximum number of threads.
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

    /// Runs a job soon on a thread of the pool, or on the caller's if there is none and none can be created.
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

    /// Adds a thread. If that fails, half of them end to leave threads to others in this process: libcurl resolves host
    /// names on its own thread.
    ///
    /// - Returns: the number of threads asked to end.
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

/// A serial queue on a pool's threads.
package final class SerialQueue: Sendable {
    private let pool: ThreadPool
    private let state = Lock((jobs: [ThreadPool.Job](), isAtWork: false))

    package init(_ pool: ThreadPool) { self.pool = pool }

    /// Runs a job after all earlier ones.
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

    /// Takes the waiting jobs; nil if there are none, which ends the work.
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
