/// The bytes freed by deleting a repository or revisions: the size of every file whose last name would be deleted. A
/// file shared with another repository, by a hard link or through the shared store, frees nothing.
package struct FreeableSizes: Sendable {
    /// For each linked payload of the shared store, the valid lines of its manifest; absent if it must not be deleted.
    private var references: [String: Set<String>] = [:]

    /// - Parameter state: the manifests of the shared store are read from its disk.
    package init(_ state: CacheState) { self.init(state.repositories, state.layout) }

    /// - Parameter repositories: the manifests of the payloads that these link to are read from the disk.
    init(_ repositories: [CachedRepository], _ layout: CacheLayout) {
        let store = SharedStore(layout: layout)
        for hash in Set(repositories.flatMap { $0.blobs.values.compactMap(\.sharedHash) }) {
            if let lines = store.references(hash) { references[hash] = Set(lines) }
        }
    }

    /// Without a shared store.
    init() {}

    /// Bytes freed with the whole repository, partials included.
    package func ofRepository(_ repository: CachedRepository) -> Int64 {
        freed(
            repository, blobs: Set(repository.blobs.keys),
            files: repository.revisions.flatMap { $0.files.compactMap(\.file) }
                + repository.partials.compactMap(\.file))
    }

    /// Bytes freed with one revision while the others stay; for the only one those of the whole repository.
    package func ofRevision(_ revision: CachedRevision, _ repository: CachedRepository) -> Int64 {
        ofRevisions([revision], repository)
    }

    /// Bytes freed with these revisions while the others stay; if there are no others those of the whole repository.
    package func ofRevisions(_ revisions: [CachedRevision], _ repository: CachedRepository) -> Int64 {
        let commits = Set(revisions.map(\.commit))
        let others = repository.revisions.filter { !commits.contains($0.commit) }
        guard !others.isEmpty else { return ofRepository(repository) }
        let needed = Set(others.flatMap { $0.files.compactMap(\.blob) })
        let entries = revisions.flatMap(\.files)
        return freed(
            repository, blobs: Set(entries.compactMap(\.blob)).subtracting(needed),
            files: entries.compactMap(\.file))
    }

    /// Bytes freed with these entries of `blobs/` and these plain files: a file is freed with its last name.
    private func freed(_ repository: CachedRepository, blobs: Set<String>, files: [PhysicalFile]) -> Int64 {
        // Only the link is deleted.
        guard !repository.isLink else { return 0 }
        var namesGone: [PhysicalFile.Identity: UInt64] = [:]
        var freed: Int64 = 0
        func take(_ file: PhysicalFile) {
            namesGone[file.identity, default: 0] += 1
            if namesGone[file.identity] == file.links { freed += file.size }
        }
        for name in blobs {
            guard let blob = repository.blobs[name], !blob.isForeign, let file = blob.file else { continue }
            guard let hash = blob.sharedHash else {
                take(file)
                continue
            }
            // The store's payload has its own name, and is deleted when its manifest has no valid line.
            let gone = blobs.map { "\(repository.folder.name)/blobs/\($0)" }
            if references[hash]?.subtracting(gone).isEmpty == true { take(file) }
        }
        files.forEach(take)
        return freed
    }
}
