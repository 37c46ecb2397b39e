import HubCore
import Synchronization

/// Steers a pull from outside, before and while it runs: how many connections, how fast, and whether it rests. Safe from
/// any thread.
package final class PullControl: Sendable {
    package struct Settings: Sendable, Hashable {
        /// Connections at once over all files, at least 1; nil leaves it to the pull.
        package var connections: Int?
        /// Bytes a second over all connections, at least 1; nil for as fast as it goes.
        package var bytesPerSecond: Int64?
        package var isPaused = false
    }

    private struct State {
        var settings: Settings
        var observers: [Int: @Sendable (@escaping @Sendable () -> Void) -> Void] = [:]
        var nextKey = 0
    }

    private let state: Lock<State>

    package init(connections: Int? = nil, bytesPerSecond: Int64? = nil) {
        state = Lock(State(settings: Settings(connections: connections, bytesPerSecond: bytesPerSecond)))
    }

    package var settings: Settings { state.withLock { $0.settings } }

    /// Changes the settings; pulls under way follow at once.
    package func change(_ body: (inout Settings) -> Void) { apply(body) {} }

    /// Ends all requests and keeps what they brought; the pull holds its locks and goes on at ``resume()``.
    ///
    /// - Parameter settled: called once nothing is on its way any more.
    package func pause(settled: @escaping @Sendable () -> Void = {}) { apply({ $0.isPaused = true }, settled) }

    package func resume() { change { $0.isPaused = false } }

    private func apply(_ body: (inout Settings) -> Void, _ done: @escaping @Sendable () -> Void) {
        let observers = state.withLock { state in
            body(&state.settings)
            return Array(state.observers.values)
        }
        // Whoever observes calls back, so that the last one to follow is the one that says so.
        let left = Countdown(observers.count, done)
        for observer in observers { observer { left.one() } }
    }

    /// Calls `body` at every change; it calls its argument when it has followed. The key takes it back.
    func observe(_ body: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) -> Int {
        state.withLock { state in
            state.nextKey += 1
            state.observers[state.nextKey] = body
            return state.nextKey
        }
    }

    func remove(_ key: Int) { state.withLock { _ = $0.observers.removeValue(forKey: key) } }
}

/// Calls its closure when it has been told so many times.
private final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let done: @Sendable () -> Void

    init(_ count: Int, _ done: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.done = done
        if count == 0 { done() }
    }

    func one() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done() }
    }
}
