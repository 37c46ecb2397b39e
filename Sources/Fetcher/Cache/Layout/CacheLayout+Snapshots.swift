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
