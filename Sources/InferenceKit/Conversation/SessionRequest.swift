import HubCore

/// One request of a session, until it has ended.
final class SessionRequest: Sendable {
    private struct State {
        var isCancelled = false
        var isEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// What it gives.
    let job = StreamJob<ModelSession.Event>()
    private let state = Lock(State())
    private let before: Lock<SessionRequest?>

    /// - Parameter previous: one that was cancelled and has not ended yet.
    init(after previous: SessionRequest?) { before = Lock(previous) }

    /// The request that this one waits for, once.
    var previous: SessionRequest? {
        before.withLock { before in
            defer { before = nil }
            return before
        }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() { state.withLock { $0.isCancelled = true } }

    func end() {
        let waiting = state.withLock { state in
            state.isEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits for its end.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isEnded { state.waiting.append(continuation) }
                return state.isEnded
            }
            if isOver { continuation.resume() }
        }
    }
}
