/// What deleting a repository, or one revision alone, would free: the size of every file whose last name would go. A
/// file that another repository holds too, by a hard link or through the shared store, frees nothing.
package struct FreeableSizes: Sendable {
    /// Names that the repositories of this cache have for each physical file.
    private var names: [PhysicalFile.Identity: [String: Int]] = [:]
    private var links: [PhysicalFile.Identity: UInt64] = [:]

    package init(_ state: CacheState) {
        for repository in state.repositories {
            for (file, _) in Self.entries(of: repository) {
                names[file.identity, default: [:]][repository.folder.name, default: 0] += 1
                links[file.identity] = file.links
            }
        }
    }

    /// Bytes that go with the whole repository, its partials included.
    package func ofRepository(_ repository: CachedRepository) -> Int64 {
        var seen: Set<PhysicalFile.Identity> = []
        var freed: Int64 = 0
        for (file, isShared) in Self.entries(of: repository) where seen.insert(file.identity).inserted {
            if isLastName(
                file, isShared: isShared, taken: names[file.identity]?[repository.folder.name] ?? 0, repository)
            {
                freed += file.size
            }
        }
        return freed + repository.partials.reduce(0) { $0 + ($1.file?.size ?? 0) }
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
        var freed: Int64 = 0
        var counted: Set<String> = []
        for entry in revisions.flatMap(\.files) {
            if let file = entry.file {
                if file.links == 1 { freed += file.size }
            } else if let name = entry.blob, !needed.contains(name), counted.insert(name).inserted,
                let blob = repository.blobs[name], let file = blob.file,
                isLastName(file, isShared: blob.sharedHash != nil, taken: 1, repository)
            {
                freed += file.size
            }
        }
        return freed
    }

    private func isLastName(_ file: PhysicalFile, isShared: Bool, taken: Int, _ repository: CachedRepository)
        -> Bool
    {
        // The store's payload has one name of its own, and goes when no repository links to it any more.
        if isShared { return names[file.identity]?.keys.allSatisfy { $0 == repository.folder.name } ?? false }
        return UInt64(taken) >= file.links
    }

    private static func entries(of repository: CachedRepository) -> [(file: PhysicalFile, isShared: Bool)] {
        repository.blobs.values.compactMap { blob in blob.file.map { ($0, blob.sharedHash != nil) } }
            + repository.revisions.flatMap { $0.files.compactMap { entry in entry.file.map { ($0, false) } } }
    }
}
