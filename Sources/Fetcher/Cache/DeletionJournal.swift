package import Catalog
package import HubCore

/// Notes in the catalog what is being deleted, so that the next run finishes what was cut off. Without a catalog a
/// deletion continues without: what it leaves is found as orphans.
package struct DeletionJournal: Sendable {
    private let catalog: DispensableCatalog
    private let cache: String

    init(_ catalog: DispensableCatalog, cache: String) { (self.catalog, self.cache) = (catalog, cache) }

    /// What was cut off, or is being deleted by another process.
    package func interrupted() -> [BegunDeletion] {
        catalog.use { catalog throws(AIError) in try catalog.begunDeletions(inCache: cache) } ?? []
    }

    /// Notes all rows of a plan; for each its row in the catalog.
    func begin(_ rows: [DeletionPlan.Row]) -> [Int64] {
        let now = Timestamp.now
        let deletions = rows.map { row -> BegunDeletion in
            var commit: Commit?
            var names = row.blobs
            switch row.subject {
            case .revision(let which): commit = which
            case .partial(let partials): names.formUnion(partials)
            default: break
            }
            return BegunDeletion(
                folder: row.folder?.name ?? "", commit: commit, names: names.sorted(),
                payloads: row.payloads.sorted(),
                beganAt: now)
        }
        return catalog.use { catalog throws(AIError) in try catalog.begin(deletions, inCache: cache) } ?? []
    }

    /// Forgets what was cut off in a repository's folder: what is there now was asked back.
    package func forget(_ folder: String) {
        catalog.use { catalog throws(AIError) in
            let rows = try catalog.begunDeletions(inCache: cache).filter { $0.folder == folder }.map(\.row)
            if !rows.isEmpty { try catalog.end(deletions: rows) }
        }
    }

    func end(_ rows: [Int64]) {
        guard !rows.isEmpty else { return }
        catalog.use { catalog throws(AIError) in try catalog.end(deletions: rows) }
    }
}

extension Workspace {
    package var journal: DeletionJournal { DeletionJournal(dispensable, cache: layout.root) }

    /// Forgets what verifying found in files that a deletion has taken away.
    package func forgetVerified(after plan: DeletionPlan) async {
        let folders = Set(plan.rows.compactMap(\.folder))
        await Offload.run { [dispensable, layout] in
            dispensable.use { catalog throws(AIError) in
                for folder in folders {
                    try catalog.forgetVerified(below: folder.name, ofCache: layout.root) { place, etag in
                        FileSystem.exists(
                            place == folder.name ? folder.blob(etag) : Path.join(layout.root, place))
                    }
                }
            }
        }
    }

    /// A planner that knows what is pinned, what is in use, and what earlier deletions have left to do.
    ///
    /// - Parameter keep: what those may not go on with.
    package func planner(_ state: CacheState, keep: [ModelReference] = []) async throws -> DeletionPlanner {
        let protection = try await protection(for: state)
        return try await Offload.run { [journal] in
            var planner = DeletionPlanner(state, protection: protection)
            try planner.addInterrupted(journal.interrupted(), keep: keep)
            return planner
        }
    }
}
