import HubCore
import Synchronization

/// Controls a pull before and while it runs: connections, rate and pausing. Safe from any thread.
package final class PullControl: Sendable {
    package struct Settings: Sendable, Hashable {
        /// Connections at once over all files, at least 1; nil for automatic.
        package var connections: Int?
        /// Bytes a second over all connections, at least 1; nil for unlimited.
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

    /// Changes the settings; running pulls apply them at once.
    package func change(_ body: (inout Settings) -> Void) { apply(body) {} }

    /// Ends all requests and keeps the received bytes; the pull keeps its locks and continues with ``resume()``.
    ///
    /// - Parameter settled: called once no request is running.
    package func pause(settled: @escaping @Sendable () -> Void = {}) { apply({ $0.isPaused = true }, settled) }

    package func resume() { change { $0.isPaused = false } }

    private func apply(_ body: (inout Settings) -> Void, _ done: @escaping @Sendable () -> Void) {
        let observers = state.withLock { state in
            body(&state.settings)
            return Array(state.observers.values)
        }
        // Each observer calls back; the last one completes the change.
        let left = Countdown(observers.count, done)
        for observer in observers { observer { left.one() } }
    }

    /// Calls `body` at every change; it calls its argument when the change is applied. The returned key removes the
    /// observer.
    func observe(_ body: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) -> Int {
        state.withLock { state in
            state.nextKey += 1
            state.observers[state.nextKey] = body
            return state.nextKey
        }
    }

    func remove(_ key: Int) { state.withLock { _ = $0.observers.removeValue(forKey: key) } }
}

/// Calls its closure after a number of calls.
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
