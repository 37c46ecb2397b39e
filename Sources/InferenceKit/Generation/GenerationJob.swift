import HubCore

/// The link between the generating thread and the reading task: it passes chunks one way, cancellation the other.
///
/// Chunks wait here until they are read; their number is at most the number of requested tokens.
typealias GenerationJob = StreamJob<GenerationChunk>

/// The link between work and the task that reads what it gives.
final class StreamJob<Element: Sendable>: Sendable {
    private struct State {
        var chunks: [Element] = []
        var read = 0
        var outcome: Result<Void, AIError>?
        var waiting: CheckedContinuation<Void, Never>?
        var isCancelled = false
        var onCancel: (@Sendable () -> Void)?
    }
    private let state = Lock(State())
    /// Called with each chunk on the generating thread, before it can be read.
    private let onSend: (@Sendable (StreamJob<Element>, Element) -> Void)?

    init(onSend: (@Sendable (StreamJob<Element>, Element) -> Void)? = nil) { self.onSend = onSend }

    // MARK: The generating thread

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func send(_ chunk: Element) {
        onSend?(self, chunk)
        wake { $0.chunks.append(chunk) }
    }

    func end(_ outcome: Result<Void, AIError>) { wake { $0.outcome = outcome } }

    private func wake(_ change: (inout sending State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    // MARK: The reading task

    /// Asks the thread to end; it sends its pending text and a last chunk with the reason.
    func cancel() {
        let onCancel = state.withLock { state in
            state.isCancelled = true
            defer { state.onCancel = nil }
            return state.onCancel
        }
        onCancel?()
    }

    /// Calls this on cancellation, at once if it has come.
    func whenCancelled(_ work: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isCancelled { state.onCancel = work }
            return state.isCancelled
        }
        if isLate { work() }
    }

    /// The next chunk; nil after the last. A cancelled task still gets the last chunk, with the reason.
    func next() async throws(AIError) -> Element? {
        while true {
            if let step = state.withLock({ Self.take(&$0) }) { return try step.get() }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let ready = state.withLock { state in
                        if state.read < state.chunks.count || state.outcome != nil { return true }
                        precondition(state.waiting == nil, "two tasks read one generation")
                        state.waiting = continuation
                        return false
                    }
                    if ready { continuation.resume() }
                }
            } onCancel: {
                cancel()
            }
        }
    }

    /// nil if the reader has to wait.
    private static func take(_ state: inout State) -> Result<Element?, AIError>? {
        if state.read < state.chunks.count {
            defer { state.read += 1 }
            return .success(state.chunks[state.read])
        }
        return state.outcome.map { $0.map { nil } }
    }
}
