import HubCore
import HubServer

/// How many texts are generated at once, and who waits for a place.
final class Slots: Sendable {
    private struct Waiting {
        var number: Int
        var count: Int
        var continuation: CheckedContinuation<Bool, Never>
    }
    private struct State {
        var free: Int
        var next = 0
        var waiting: [Waiting] = []
        /// Those whose task was cancelled before they could wait.
        var cancelled: Set<Int> = []
    }

    /// Texts at once.
    let parallel: Int
    private let queue: Int
    private let metrics: ServerMetrics
    private let state: Lock<State>

    /// - Parameter queue: requests that may wait.
    init(parallel: Int, queue: Int, metrics: ServerMetrics) {
        (self.parallel, self.queue, self.metrics) = (parallel, queue, metrics)
        state = Lock(State(free: parallel))
        metrics.declare("hub_requests_running", type: "gauge", "Texts that are being generated.")
        metrics.declare("hub_requests_queued", type: "gauge", "Requests that wait for a place.")
    }

    /// Runs work that generates so many texts at once.
    ///
    /// - Throws: 503 if too many wait already; `CancellationError`.
    func with<Value: Sendable>(_ count: Int, _ body: () async throws -> Value) async throws -> Value {
        try await take(count)
        defer { give(count) }
        return try await body()
    }

    private func take(_ count: Int) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let isTaken = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return false }
                    if state.waiting.isEmpty, state.free >= count {
                        state.free -= count
                        return true
                    }
                    guard state.waiting.count < queue else { return false }
                    state.waiting.append(Waiting(number: number, count: count, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) } else { tell() }
            }
        } onCancel: {
            let waiting: Waiting? = state.withLock { state in
                guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.waiting.remove(at: place)
            }
            waiting?.continuation.resume(returning: false)
        }
        state.withLock { _ = $0.cancelled.remove(number) }
        tell()
        if isTaken { return }
        try Task.checkCancellation()
        throw APIFault.busy("\(queue) requests wait already; try again later", seconds: 5)
    }

    private func give(_ count: Int) {
        let next: [Waiting] = state.withLock { state in
            state.free += count
            var next: [Waiting] = []
            while let first = state.waiting.first, first.count <= state.free {
                state.free -= first.count
                next.append(state.waiting.removeFirst())
            }
            return next
        }
        for one in next { one.continuation.resume(returning: true) }
        tell()
    }

    private func tell() {
        let (running, queued) = state.withLock { (parallel - $0.free, $0.waiting.count) }
        metrics.set("hub_requests_running", Double(running))
        metrics.set("hub_requests_queued", Double(queued))
    }
}
