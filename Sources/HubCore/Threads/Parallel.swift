import Dispatch
import Synchronization

/// Loops over several processors.
package enum Parallel {
    /// Calls `body` with each number below `count`, on this thread and on those that are free; returns when all are done.
    package static func perform(_ count: Int, on pool: ThreadPool = .computing, _ body: (Int) -> Void) {
        withoutActuallyEscaping(body) { body in
            let round = Round(count, body)
            for _ in 1..<max(1, min(count, pool.most)) { pool.run { round.help() } }
            round.work()
            round.end()
        }
    }

    /// One loop. A late helper finds nothing to do.
    private final class Round: @unchecked Sendable {
        private let count: Int
        private let next = Atomic(0)
        /// nil once the loop is over. Used by the caller, and by helpers between ``enter()`` and ``leave()``.
        private var body: ((Int) -> Void)?
        private let state = Lock((helpers: 0, isOver: false))
        private let left = DispatchSemaphore(value: 0)

        init(_ count: Int, _ body: @escaping (Int) -> Void) { (self.count, self.body) = (count, body) }

        /// Runs the iterations that are not taken yet.
        @inline(never)
        func work() {
            guard let body else { return }
            while true {
                let number = next.add(1, ordering: .relaxed).oldValue
                guard number < count else { return }
                body(number)
            }
        }

        func help() {
            guard enter() else { return }
            work()
            leave()
        }

        private func enter() -> Bool {
            state.withLock { state in
                guard !state.isOver else { return false }
                state.helpers += 1
                return true
            }
        }

        private func leave() {
            let isLast = state.withLock { state in
                state.helpers -= 1
                return state.isOver && state.helpers == 0
            }
            if isLast { left.signal() }
        }

        /// Waits for the helpers that are still running.
        func end() {
            let hasHelpers = state.withLock { state in
                state.isOver = true
                return state.helpers > 0
            }
            if hasHelpers { left.wait() }
            body = nil
        }
    }
}
