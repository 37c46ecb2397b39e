import HubCore

/// A file of a ``CacheItem``, and its other users.
package struct ItemFile: Sendable, Hashable {
    package var path: String
    /// st_size in bytes; nil if missing.
    package var size: Int64?
    /// Revisions that share the same bytes on the disk, as `org/name@commit`, and the number of other names.
    package var sharedWith: [String]
}

extension CacheInventory {
    /// The files of an item. Searches the whole state for shared files.
    package func files(of item: CacheItem) -> [ItemFile] {
        var files: [(path: String, file: PhysicalFile?)]
        var own: String?
        let repository = repository(of: item)
        switch item.subject {
        case .revision(let number):
            let (repository, revision) = (repository!, repository!.revisions[number])
            own = Self.name(repository, revision)
            files = revision.files.map { ($0.path, $0.file ?? $0.blob.flatMap { repository.blobs[$0]?.file }) }
            files.sort { $0.path < $1.path }
        case .remains: files = Self.entries(repository!.blobs.keys.sorted(), of: repository!)
        case .partials(let names), .orphans(let names): files = Self.entries(names, of: repository!)
        case .payloads(let names):
            files = names.map { name in
                ("blobs/\(name.prefix(2))/\(name)", state.unusedPayloads.first { $0.name == name }?.file)
            }
        case .xet:
            return chunks.entries.compactMap { entry in
                entry.size.map { ItemFile(path: entry.path, size: $0, sharedWith: []) }
            }
        }
        let users = users(of: Set(files.compactMap { $0.file?.identity }))
        return files.map { path, file in
            ItemFile(path: path, size: file?.size, sharedWith: sharers(of: file, among: users, besides: own))
        }
    }

    /// Entries of a repository's `blobs/`.
    private static func entries(_ names: [String], of repository: CachedRepository)
        -> [(path: String, file: PhysicalFile?)]
    {
        names.map { name in
            let blob = repository.blobs[name] ?? repository.partials.first { $0.name == name }
            return ("blobs/\(name)", blob?.file)
        }
    }

    /// For each of these files: its number of names in the cache, and the revisions that need it.
    private func users(of wanted: Set<PhysicalFile.Identity>)
        -> [PhysicalFile.Identity: (names: UInt64, revisions: [String])]
    {
        var out: [PhysicalFile.Identity: (names: UInt64, revisions: [String])] = [:]
        for repository in state.repositories {
            for blob in Array(repository.blobs.values) + repository.partials where !blob.isForeign {
                guard let file = blob.file, wanted.contains(file.identity) else { continue }
                if blob.sharedHash == nil { out[file.identity, default: (0, [])].names += 1 }
            }
            for revision in repository.revisions {
                for file in revision.files.compactMap(\.file) where wanted.contains(file.identity) {
                    out[file.identity, default: (0, [])].names += 1
                }
                for identity in repository.physicalFiles(of: revision).keys where wanted.contains(identity) {
                    out[identity, default: (0, [])].revisions.append(Self.name(repository, revision))
                }
            }
        }
        return out
    }

    private func sharers(
        of file: PhysicalFile?, among users: [PhysicalFile.Identity: (names: UInt64, revisions: [String])],
        besides own: String?
    ) -> [String] {
        guard let file, let found = users[file.identity] else { return [] }
        // A payload of the shared store has one own name.
        let outside = Int64(file.links) - Int64(max(found.names, 1))
        return found.revisions.filter { $0 != own }.sorted()
            + (outside > 0 ? ["\(outside) name\(outside == 1 ? "" : "s") outside the cache"] : [])
    }

    private static func name(_ repository: CachedRepository, _ revision: CachedRevision) -> String {
        "\(repository.repository)@\(revision.commit.short)"
    }
}
