import HubCore

/// What a scheduler computes for: a text that grows.
protocol StepClient: AnyObject, Sendable {
    /// The rows that it wants next, at most `budget` of them, all of one sequence; none once it has ended.
    ///
    /// Called on the scheduler's thread, as are the others.
    func rows(budget: Int) -> [StepRow]
    /// Whether its next rows are few and somebody waits for them: new tokens rather than a prompt.
    var isDecoding: Bool { get }
    /// The logits of one of the rows last asked for, in their order.
    func take(_ row: Int, _ logits: Logits)
    /// The rows last asked for are computed.
    func stepEnded()
    /// The rows last asked for could not be computed. The client asks for no more.
    func fail(_ error: AIError)
}

/// The one thread that computes with a model. New tokens of all texts go into each step, and beside them a piece of one
/// prompt, so that nobody waits behind a long prompt.
final class Scheduler: Sendable {
    private struct State {
        var arrived: [any StepClient] = []
        var isRunning = false
    }

    private let model: Model
    private let queue: ComputeQueue
    // Used on the queue alone.
    nonisolated(unsafe) private let workspace: Workspace
    private let state = Lock(State())

    init(_ model: Model, _ workspace: sending Workspace, _ queue: ComputeQueue) {
        self.model = model
        self.workspace = workspace
        self.queue = queue
    }

    /// Computes for a client until it wants no more rows.
    func add(_ client: any StepClient) {
        let starts = state.withLock { state in
            state.arrived.append(client)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { queue.start { self.run() } }
    }

    /// Work that needs the model for itself, between the steps of no client.
    func alone<Value: Sendable>(
        _ work:
            @escaping @Sendable (Workspace, _ isCancelled: @escaping @Sendable () -> Bool) throws(AIError) -> Value
    ) async throws(AIError) -> Value {
        try await queue.run { isCancelled throws(AIError) in try work(self.workspace, isCancelled) }
    }

    private func run() {
        var clients: [any StepClient] = []
        var cameBefore = false
        while true {
            let isIdle = state.withLock { state in
                // Whoever has just come goes first: a short prompt need not wait for a piece of a long one. Those who come
                // right behind them let one go first that waited.
                clients.insert(contentsOf: state.arrived, at: cameBefore ? min(1, clients.count) : 0)
                cameBefore = !state.arrived.isEmpty
                state.arrived = []
                if clients.isEmpty { state.isRunning = false }
                return clients.isEmpty
            }
            if isIdle { return }
            step(&clients)
        }
    }

    /// Rows of a prompt beside new tokens: whoever reads these should hardly notice.
    private static let promptBesideTokens = 64

    private func step(_ clients: inout [any StepClient]) {
        var step = Step()
        var places: [(client: any StepClient, first: Int)] = []
        var prompts: [any StepClient] = []
        func ask(_ client: any StepClient, atMost most: Int) -> Bool {
            let rows = client.rows(budget: min(most, workspace.rows - step.count))
            guard !rows.isEmpty else { return false }
            places.append((client, step.count))
            for row in rows { step.append(row) }
            return true
        }
        var left: [any StepClient] = []
        for client in clients {
            if step.count == workspace.rows || !client.isDecoding {
                prompts.append(client)
            } else if ask(client, atMost: workspace.rows) {
                left.append(client)
            }
        }
        // The first prompt that still has rows; the others wait for the next steps.
        var served: (any StepClient)?
        for client in prompts {
            if served == nil, step.count < workspace.rows {
                guard ask(client, atMost: step.isEmpty ? workspace.rows : Self.promptBesideTokens) else { continue }
                served = client
            } else {
                left.append(client)
            }
        }
        if let served { left.append(served) }
        clients = left
        guard !step.isEmpty else { return }
        var next = 0
        do throws(AIError) {
            try model.run(step, workspace) { index, logits in
                while next + 1 < places.count, places[next + 1].first <= index { next += 1 }
                places[next].client.take(index - places[next].first, logits)
            }
            for place in places { place.client.stepEnded() }
        } catch {
            for place in places { place.client.fail(error) }
        }
    }
}
