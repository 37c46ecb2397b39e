import HubCore
import HubServer

/// How many texts are generated at once, and who waits for a place.
final class Slots: Sendable {
    private struct Waiting {
        var number: Int
        var count: Int
        /// Whether its request has begun to answer. It is then never refused, however many wait.
        var isMore: Bool
        var continuation: CheckedContinuation<Bool, Never>
    }
    private struct State {
        var free: Int
        var next = 0
        var waiting: [Waiting] = []
        /// Those whose task was cancelled before they could wait.
        var cancelled: Set<Int> = []

        /// Takes those who wait out of the line, in its order, as far as there are places.
        mutating func admit() -> [Waiting] {
            var next: [Waiting] = []
            while let first = waiting.first, first.count <= free {
                free -= first.count
                next.append(waiting.removeFirst())
            }
            return next
        }
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
        let places = try await places(count)
        defer { places.end() }
        return try await body()
    }

    /// Places for so many texts at once, to be ended.
    ///
    /// - Throws: as ``with(_:_:)`` does.
    func places(_ count: Int) async throws -> Places {
        try await take(count, isMore: false)
        return Places(self, count)
    }

    /// What a request holds.
    final class Places: Sendable {
        private let slots: Slots
        private let held: Lock<Int>

        fileprivate init(_ slots: Slots, _ count: Int) { (self.slots, held) = (slots, Lock(count)) }

        /// Gives a place back whose text has ended.
        func giveBack() {
            held.withLock { $0 -= 1 }
            slots.give(1)
        }

        /// Gives a place back and waits in line for another, so that a request with many texts does not keep others out.
        ///
        /// - Throws: `CancellationError`.
        func renew() async throws {
            giveBack()
            try await slots.take(1, isMore: true)
            held.withLock { $0 += 1 }
        }

        /// Gives back what is left.
        func end() {
            let count = held.withLock { held in
                defer { held = 0 }
                return held
            }
            if count > 0 { slots.give(count) }
        }
    }

    private func take(_ count: Int, isMore: Bool) async throws {
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
                    guard isMore || state.waiting.count(where: { !$0.isMore }) < queue else { return false }
                    state.waiting.append(
                        Waiting(number: number, count: count, isMore: isMore, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) } else { tell() }
            }
        } onCancel: {
            let (left, next): (Waiting?, [Waiting]) = state.withLock { state in
                guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return (nil, [])
                }
                // Who needs fewer places may have waited behind it.
                return (state.waiting.remove(at: place), state.admit())
            }
            left?.continuation.resume(returning: false)
            for one in next { one.continuation.resume(returning: true) }
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
            return state.admit()
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
