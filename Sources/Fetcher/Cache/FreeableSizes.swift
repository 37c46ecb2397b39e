/// What deleting a repository, or one revision alone, would free: the size of every file whose last name would go. A
/// file that another repository holds too, by a hard link or through the shared store, frees nothing.
package struct FreeableSizes: Sendable {
    /// For each payload of the shared store that repositories link to, the lines of its manifest that are true; absent
    /// where nobody may delete it.
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

    /// Bytes that go with the whole repository, its partials included.
    package func ofRepository(_ repository: CachedRepository) -> Int64 {
        freed(
            repository, blobs: Set(repository.blobs.keys),
            files: repository.revisions.flatMap { $0.files.compactMap(\.file) }
                + repository.partials.compactMap(\.file))
    }

    /// Bytes that go with one revision while the others stay; those of the whole repository where it is the only one.
    package func ofRevision(_ revision: CachedRevision, _ repository: CachedRepository) -> Int64 {
        ofRevisions([revision], repository)
    }

    /// Bytes that go with these revisions while the others stay; those of the whole repository where there are none.
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

    /// Bytes that go with these entries of `blobs/` and these plain files: a file goes with the last of its names.
    private func freed(_ repository: CachedRepository, blobs: Set<String>, files: [PhysicalFile]) -> Int64 {
        // What goes is the link.
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
            // The store's payload has a name of its own, and goes when no line of its manifest is true any more.
            let gone = blobs.map { "\(repository.folder.name)/blobs/\($0)" }
            if references[hash]?.subtracting(gone).isEmpty == true { take(file) }
        }
        files.forEach(take)
        return freed
    }
}
