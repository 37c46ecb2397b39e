package import Catalog
package import HubCore

extension DeletionPlanner {
    /// Plans the rest of interrupted deletions. Items fetched or used since are kept.
    ///
    /// - Parameter keep: items to keep in any case.
    package mutating func addInterrupted(_ begun: [BegunDeletion], keep: [ModelReference] = []) throws(AIError) {
        let reason = "its deletion was cut off"
        for deletion in begun {
            let (refusals, rows) = (refusals, plan.rows.count)
            if let repository = state.repositories.first(where: { $0.folder.name == deletion.folder }) {
                try addRest(of: deletion, in: repository, reason, keep: keep)
            }
            addUnusedPayloads(among: Set(deletion.payloads), reason: reason)
            for index in rows..<plan.rows.count { plan.rows[index].isRest = true }
            // Items kept this time are left to a later run.
            if refusals == self.refusals { plan.interrupted.append(deletion.row) }
        }
    }

    private mutating func addRest(
        of deletion: BegunDeletion, in repository: CachedRepository, _ reason: String, keep: [ModelReference]
    ) throws(AIError) {
        var names = Set(deletion.names)
        let fresh = try entries(of: repository, madeSince: deletion.beganAt)
        if let commit = deletion.commit {
            let revision =
                repository.revisions.first { $0.commit == commit }
                ?? CachedRevision(
                    commit: commit, refs: [], files: [], isComplete: nil, downloadedAt: 0, lastUsedAt: 0)
            if keep.contains(where: { $0.names(revision, of: repository) }) {
                return protect(repository, commit, .kept)
            }
            if try !isWanted(revision, of: repository, fresh, since: deletion.beganAt) {
                let isThere = repository.revisions.contains { $0.commit == commit }
                let hasRest = try hasRest(of: commit, deletion.names, repository)
                if isThere || hasRest {
                    try add(revision, of: repository, reason: reason, blobs: names)
                }
            }
        }
        names.subtract(fresh)
        try addOrphans(of: repository, among: names, reason: reason)
    }

    /// The entries of `blobs/` created since.
    private func entries(of repository: CachedRepository, madeSince time: Double) throws(AIError) -> Set<String> {
        var out: Set<String> = []
        for name in Array(repository.blobs.keys) + repository.partials.map(\.name) {
            if let status = try FileSystem.linkStatus(repository.folder.blob(name)), status.modified > time {
                out.insert(name)
            }
        }
        return out
    }

    /// Whether anything is left of a revision without a snapshot.
    private func hasRest(of commit: Commit, _ names: [String], _ repository: CachedRepository) throws(AIError)
        -> Bool
    {
        let folder = repository.folder
        if repository.revisions.isEmpty || names.contains(where: { repository.blobs[$0] != nil }) { return true }
        let own = [folder.tree(commit), Path.join(folder.missing, commit.hash)]
        if own.contains(where: FileSystem.exists) { return true }
        // Their folders may stay behind empty.
        for path in [folder.missing, folder.trees] {
            if let names = try FileSystem.entries(path), names.isEmpty { return true }
        }
        return false
    }

    /// Whether a snapshot or a ref to it was made or used after a time, or a pull has begun without links yet. A
    /// deletion next to a snapshot's entries does not change their times.
    private func isWanted(
        _ revision: CachedRevision, of repository: CachedRepository, _ fresh: Set<String>, since time: Double
    ) throws(AIError) -> Bool {
        let others = repository.revisions.filter { $0.commit != revision.commit }
        if !fresh.subtracting(others.flatMap { $0.files.compactMap(\.blob) }).isEmpty { return true }
        if revision.files.isEmpty { return false }
        if max(revision.downloadedAt, revision.lastUsedAt) > time { return true }
        for name in revision.refs {
            if let status = try FileSystem.linkStatus(repository.folder.ref(name)), status.modified > time {
                return true
            }
        }
        return false
    }
}
