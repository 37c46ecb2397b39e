package import Catalog
package import HubCore

extension DeletionPlanner {
    /// Plans the end of deletions that were cut off. What somebody has fetched or used since is wanted again, and stays.
    package mutating func addInterrupted(_ begun: [BegunDeletion]) throws(AIError) {
        let reason = "its deletion was cut off"
        for deletion in begun {
            plan.interrupted.append(deletion.row)
            if let repository = state.repositories.first(where: { $0.folder.name == deletion.folder }) {
                try addRest(of: deletion, in: repository, reason)
            }
            addUnusedPayloads(among: Set(deletion.payloads), reason: reason)
        }
    }

    private mutating func addRest(
        of deletion: BegunDeletion, in repository: CachedRepository, _ reason: String
    ) throws(AIError) {
        let folder = repository.folder
        if let commit = deletion.commit {
            let revision =
                repository.revisions.first { $0.commit == commit }
                ?? CachedRevision(
                    commit: commit, refs: [], files: [], isComplete: nil, downloadedAt: 0, lastUsedAt: 0)
            if try !isWanted(revision, in: folder, since: deletion.beganAt) {
                let isThere = repository.revisions.contains { $0.commit == commit }
                let hasRest = try hasRest(of: commit, deletion.names, repository)
                if isThere || hasRest {
                    try add(revision, of: repository, reason: reason, blobs: Set(deletion.names))
                }
            }
        }
        try addOrphans(of: repository, among: Set(deletion.names), reason: reason)
    }

    /// Whether anything is left of a revision whose snapshot is gone.
    private func hasRest(of commit: Commit, _ names: [String], _ repository: CachedRepository) throws(AIError)
        -> Bool
    {
        let folder = repository.folder
        if repository.revisions.isEmpty || names.contains(where: { repository.blobs[$0] != nil }) { return true }
        let own = [folder.tree(commit), Path.join(folder.missing, commit.hash)]
        if own.contains(where: FileSystem.exists) { return true }
        // Their folders are left empty at the very end.
        for path in [folder.missing, folder.trees] {
            if let names = try FileSystem.entries(path), names.isEmpty { return true }
        }
        return false
    }

    /// Whether a snapshot, or a ref to it, was made or used after a time. What is in it keeps its own times while what
    /// lies beside it is deleted.
    private func isWanted(_ revision: CachedRevision, in folder: RepositoryFolder, since time: Double)
        throws(AIError)
        -> Bool
    {
        if revision.files.isEmpty { return false }
        if max(revision.downloadedAt, revision.lastUsedAt) > time { return true }
        for name in revision.refs {
            if let status = try FileSystem.linkStatus(folder.ref(name)), status.modified > time { return true }
        }
        return false
    }
}
