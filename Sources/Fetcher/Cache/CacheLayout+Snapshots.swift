import Catalog
package import HubCore

extension CacheLayout {
    /// The snapshot that a reference means, without any network: by commit, by ref, or, for a repository with one
    /// revision and no ref, that one.
    package func snapshot(of reference: ModelReference) throws(AIError) -> (
        folder: RepositoryFolder, commit: Commit
    )? {
        let folder = repository(reference.repository)
        var commit = reference.revision.flatMap(Commit.init)
        if commit == nil { commit = try folder.commit(ofRef: reference.revision ?? "main") }
        let present = try FileSystem.entries(folder.snapshots) ?? []
        if commit == nil {
            let wanted = reference.revision
            let matching = present.filter { name in
                wanted.map { $0.utf8.count >= 7 && name.hasPrefix($0) } ?? true
            }
            commit = matching.count == 1 ? Commit(matching[0]) : nil
        }
        guard let commit, present.contains(commit.hash) else { return nil }
        return (folder, commit)
    }
}

extension DispensableCatalog {
    /// Whether the first pull of a cached revision was cut off, and files that it chose are missing.
    package func isUnfinished(_ folder: RepositoryFolder, _ commit: Commit) throws(AIError) -> Bool {
        let known = use { catalog throws(AIError) in
            try CacheRecord(folder.cache, in: catalog).choice(of: commit, folder.name)
        }
        guard let known = known ?? nil, known.isUnfinished, let tree = try folder.readTree(commit) else {
            return false
        }
        let snapshot = folder.snapshot(commit)
        return tree.files.contains {
            known.choice.matches($0.path) && !FileSystem.exists(Path.join(snapshot, $0.path))
        }
    }
}
