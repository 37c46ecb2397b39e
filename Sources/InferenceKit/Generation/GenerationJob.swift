import HubCore

/// The link between the thread that generates and the task that reads: chunks one way, cancellation the other.
///
/// Chunks wait here until they are read; there are never more than the tokens that were asked for.
final class GenerationJob: Sendable {
    private struct State {
        var chunks: [GenerationChunk] = []
        var read = 0
        var outcome: Result<Void, AIError>?
        var waiting: CheckedContinuation<Void, Never>?
        var isCancelled = false
    }
    private let state = Lock(State())
    /// Hears each chunk on the thread that generates, before anybody can read it.
    private let onSend: (@Sendable (GenerationJob, GenerationChunk) -> Void)?

    init(onSend: (@Sendable (GenerationJob, GenerationChunk) -> Void)? = nil) { self.onSend = onSend }

    // MARK: The thread that generates

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func send(_ chunk: GenerationChunk) {
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

    // MARK: The task that reads

    /// Asks the thread to end; it sends what it has and a last chunk that says so.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// The next chunk; nil after the last. A task that is cancelled still gets the last chunk, which says so.
    func next() async throws(AIError) -> GenerationChunk? {
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

    /// nil where the reader has to wait.
    private static func take(_ state: inout State) -> Result<GenerationChunk?, AIError>? {
        if state.read < state.chunks.count {
            defer { state.read += 1 }
            return .success(state.chunks[state.read])
        }
        return state.outcome.map { $0.map { nil } }
    }
}
