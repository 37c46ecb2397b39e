package import Catalog
import HubCore

/// Records deletions in the catalog, so that the next run finishes interrupted ones. Without a catalog the leftovers
/// are found as orphans.
package struct DeletionJournal: Sendable {
    private let catalog: DispensableCatalog
    private let cache: String

    init(_ catalog: DispensableCatalog, cache: String) { (self.catalog, self.cache) = (catalog, cache) }

    /// Deletions that were interrupted or are running in another process.
    package func interrupted() -> [BegunDeletion] {
        catalog.use { catalog throws(AIError) in try catalog.begunDeletions(inCache: cache) } ?? []
    }

    /// Records all rows of a plan; returns their rows in the catalog.
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

    /// Removes interrupted deletions in a repository's folder, after a restore.
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
