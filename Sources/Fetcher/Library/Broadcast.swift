import HubCore

/// Sends the latest value to all listeners. A slow listener misses values in between, never the last one.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var newest: Element?
        var isOver = false
        var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
        var nextKey = 0
    }

    private let state = Lock(State())

    var newest: Element? { state.withLock { $0.newest } }

    func send(_ element: Element) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.newest = element
            for listener in state.listeners.values { listener.yield(element) }
        }
    }

    /// Ends every stream, after what was sent last.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return state.listeners
        }
        // Not under the lock: ending a stream calls its onTermination at once.
        for listener in listeners.values { listener.finish() }
    }

    /// The values from now on, beginning with the latest.
    func stream() -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let key = state.withLock { state -> Int? in
                if let newest = state.newest { continuation.yield(newest) }
                guard !state.isOver else { return nil }
                state.nextKey += 1
                state.listeners[state.nextKey] = continuation
                return state.nextKey
            }
            guard let key else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                // Released only after the lock.
                let gone = self?.state.withLock { $0.listeners.removeValue(forKey: key) }
                _ = gone
            }
        }
    }
}
