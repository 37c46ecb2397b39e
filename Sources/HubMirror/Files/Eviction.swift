import Fetcher
import HubCore
import HubServer

/// Keeps the cache within a limit by the policy of `hub gc`: the least recently used revisions go; what is pinned, being
/// fetched or open in a program stays.
final class Eviction: Sendable {
    private let workspace: Workspace
    private let limit: Int64?
    private let metrics: ServerMetrics
    private let report: @Sendable (AIError) -> Void

    private struct State {
        var isRunning = false
        /// Whether something was fetched since the run began.
        var isDue = false
    }

    private let state = Lock(State())

    init(
        _ workspace: Workspace, _ limit: Int64?, _ metrics: ServerMetrics,
        report: @escaping @Sendable (AIError) -> Void
    ) {
        (self.workspace, self.limit, self.metrics, self.report) = (workspace, limit, metrics, report)
        metrics.declare(
            "hub_evicted_bytes_total", type: "counter", "Bytes deleted to keep the cache within its limit.")
    }

    /// Deletes what is too much; returns at once without a limit, or while another run is at it.
    func run() async {
        guard let limit else { return }
        let mayRun = state.withLock { state in
            state.isDue = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mayRun else { return }
        while state.withLock({ state in
            defer { (state.isRunning, state.isDue) = (state.isDue, false) }
            return state.isDue
        }) {
            do { try await evict(limit) } catch { report(AIError.wrapping(error)) }
        }
    }

    private func evict(_ limit: Int64) async throws {
        let cache = try await workspace.state()
        var policy = DeletionPolicy()
        policy.maxSize = limit
        let protection = try await workspace.protection(for: cache)
        let planner = DeletionPlanner(cache, protection: protection)
        let plan = try await Blocking.run { [policy] in
            try policy.plan(
                with: planner, now: Timestamp.now, diskFree: FileSystem.diskSpace(cache.layout.root).available)
        }
        guard !plan.rows.isEmpty else { return }
        let outcome = await Blocking.run {
            Deletion(plan, layout: cache.layout, protection: protection).carryOut()
        }
        metrics.add("hub_evicted_bytes_total", Double(outcome.freedBytes))
        await workspace.forgetVerified(after: plan)
        if let failure = outcome.failed.first { report(failure.error) }
    }
}

/// Notes that clients use revisions, so that eviction and `hub gc` take others first.
final class UseMarks: Sendable {
    private let workspace: Workspace
    private let marked = Lock<[String: Double]>([:])
    private static let pause = 60.0

    init(_ workspace: Workspace) { self.workspace = workspace }

    /// At most once a minute for each revision.
    func mark(_ folder: RepositoryFolder, _ commit: Commit) {
        let now = Clock.seconds
        let isDue = marked.withLock { marked in
            let key = "\(folder.name) \(commit)"
            guard now - (marked[key] ?? -.infinity) >= Self.pause else { return false }
            marked[key] = now
            return true
        }
        guard isDue else { return }
        Task.detached { [workspace] in await Blocking.run { workspace.markUsed(folder, commit) } }
    }
}
