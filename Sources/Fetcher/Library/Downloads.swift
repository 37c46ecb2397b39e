import HubCore

/// The downloads of one manager: one for each model, commit and choice of files, and those still resolving their
/// commit.
final class Downloads: Sendable {
    private struct Preparation {
        var reference: ModelReference
        var work: Task<Commit, any Error>
    }

    private struct State {
        var tasks: [DownloadTask] = []
        var preparations: [Int: Preparation] = [:]
        var nextKey = 0
    }

    private let state = Lock(State())

    /// The download for an order, started if there is none. The caller is counted as waiting.
    ///
    /// - Parameters:
    ///   - prepare: resolves the commit and does the checks needed before anything is fetched.
    ///   - order: the files at that commit.
    func task(
        for reference: ModelReference, prepare: @escaping @Sendable () async throws -> Commit,
        order: (Commit) -> DownloadTask.Order
    ) async throws -> DownloadTask {
        let work = Task { try await prepare() }
        let number = state.withLock { state in
            state.nextKey += 1
            state.preparations[state.nextKey] = Preparation(reference: reference, work: work)
            return state.nextKey
        }
        defer { state.withLock { _ = $0.preparations.removeValue(forKey: number) } }
        let commit = try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
        return try join(order(commit), number)
    }

    private func join(_ order: DownloadTask.Order, _ number: Int) throws -> DownloadTask {
        try state.withLock { state in
            // Cancelled in between.
            guard state.preparations[number] != nil else { throw CancellationError() }
            if let known = state.tasks.first(where: { $0.key == order.key && $0.join(order.ref) }) { return known }
            let new = DownloadTask(order) { [self] task in remove(task) }
            state.tasks.append(new)
            new.begin()
            return new
        }
    }

    private func remove(_ task: DownloadTask) { state.withLock { $0.tasks.removeAll { $0 === task } } }

    /// The downloads that are not over.
    var active: [DownloadTask] { state.withLock { $0.tasks } }

    /// Cancels the downloads requested by this reference (any revision if it has none), and waits for their end;
    /// returns whether there were any.
    func cancel(_ reference: ModelReference) async -> Bool {
        let (tasks, preparations) = state.withLock { state in
            let wanted = state.preparations.filter { $0.value.reference.isPart(of: reference) }
            for number in wanted.keys { state.preparations[number] = nil }
            let tasks = state.tasks.filter {
                $0.key.repository == reference.repository && $0.isNamed(reference.revision)
            }
            return (tasks, wanted.values.map(\.work))
        }
        for work in preparations { work.cancel() }
        for task in tasks { task.cancel() }
        for task in tasks { await task.settle() }
        return !tasks.isEmpty || !preparations.isEmpty
    }
}

extension ModelReference {
    /// Whether another reference includes this one: the same revision, or none.
    fileprivate func isPart(of other: ModelReference) -> Bool {
        repository == other.repository && (other.revision == nil || (revision ?? "main") == other.revision)
    }
}
