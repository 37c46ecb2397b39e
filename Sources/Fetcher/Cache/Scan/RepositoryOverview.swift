package import HubCore

/// The data of one repository for lists: sums instead of files, so that an unchanged one loads quickly.
package struct RepositoryOverview: Sendable {
    /// One cached revision.
    package struct Revision: Sendable, Hashable {
        package var commit: Commit
        package var refs: [String]
        /// Bytes of its files, each physical file once.
        package var size: Int64
        /// Bytes freed with it while the others stay; for the only one those of the whole repository.
        package var freeable: Int64
        /// Whether all files of the commit, or all that pulls chose, are present; nil if the tree is unknown.
        package var isComplete: Bool?
        /// When the newest of its entries was made, seconds since 1970.
        package var downloadedAt: Double
        /// When it was last used, seconds since 1970; nil if not recorded.
        package var lastUsedAt: Double?
        /// The file whose access time shows use, relative to the cache.
        var largestFile: String?
    }

    /// A file that other repositories may share: it counts once.
    struct SharedFile: Sendable, Hashable {
        enum Place: UInt8, Sendable {
            /// In the repository, with further names.
            case own
            /// In the shared store.
            case store
            /// Outside of the cache.
            case outside
        }
        var file: PhysicalFile
        var place: Place
        /// The number of its names in the repository.
        var names: UInt64
        /// Whether a snapshot needs it.
        var isNeeded: Bool
        /// One of them, relative to the cache.
        var path: String
        var isOutside: Bool { place != .own }
    }

    package var folder: RepositoryFolder
    package var repository: Repository
    package var revisions: [Revision]
    /// Bytes of the files that snapshots need, each physical file once.
    package var size: Int64
    /// Bytes freed with the whole repository, partials included.
    package var freeable: Int64
    /// The number of physical files that snapshots need.
    package var files: Int
    /// Partials of every client.
    package var partials: [CachedBlob]
    /// Refs whose commit has no snapshot.
    package var danglingRefs: [String]
    /// Its problems.
    package var problems: [CacheProblem]
    /// Bytes of orphans without further names.
    var orphanSize: Int64
    var shared: [SharedFile]
    /// The files without further names.
    var own: [PhysicalFile.Identity]
    /// Whether the folder is a link.
    var isLink: Bool

    /// Whether the freed bytes depend on the shared store.
    var usesStore: Bool { shared.contains { $0.place == .store } }
    var isReadable: Bool { !problems.contains { $0.kind == .unreadable } }
    /// Whether its files are the cache's to delete.
    package var isDeletable: Bool { !problems.contains { $0.kind == .elsewhere || $0.kind == .unreadable } }
    /// Whether every revision is complete; nil if unknown.
    package var isComplete: Bool? {
        let completeness = revisions.map(\.isComplete)
        return completeness.contains(false) || completeness.isEmpty
            ? false : completeness.contains(nil) ? nil : true
    }
}

extension RepositoryOverview {
    /// The sums over a scan.
    init(_ repository: CachedRepository) {
        var table = FileTable(repository)
        revisions = repository.revisions.map { revision in
            Revision(
                commit: revision.commit, refs: revision.refs, size: table.add(revision, of: repository),
                freeable: 0,
                isComplete: revision.isComplete, downloadedAt: revision.downloadedAt,
                lastUsedAt: revision.lastUsedAt, largestFile: repository.largestFile(of: revision))
        }
        (folder, self.repository, partials) = (repository.folder, repository.repository, repository.partials)
        (danglingRefs, problems) = (repository.danglingRefs, repository.problems)
        isLink = repository.isLink
        (size, files, orphanSize, freeable, shared, own) = (0, 0, 0, 0, [], [])
        for file in table.files.values {
            if file.isNeeded { (size, files) = (size + file.file.size, files + 1) }
            // A link may point to another repository of this cache.
            if isLink || file.isOutside || file.file.links != 1 {
                shared.append(file)
            } else {
                own.append(file.file.identity)
                if !file.isNeeded, repository.isReadable { orphanSize += file.file.size }
            }
        }
        // What is shared with others changes without the repository: it is asked for when a list is shown.
        var ledger = DeletionLedger(nil, SharedBlocks())
        setFreeable(of: repository, &ledger)
    }

    /// Sets the bytes freed by deletions.
    mutating func setFreeable(of repository: CachedRepository, _ ledger: inout DeletionLedger) {
        freeable = ledger.freedBytes(repository.revisions, of: repository)
        for index in revisions.indices {
            revisions[index].freeable =
                revisions.count == 1 ? freeable : ledger.freedBytes([repository.revisions[index]], of: repository)
        }
    }
}

/// The physical files of a repository, each once.
private struct FileTable {
    private(set) var files: [PhysicalFile.Identity: RepositoryOverview.SharedFile] = [:]

    init(_ repository: CachedRepository) {
        files.reserveCapacity(repository.blobs.count)
        for blob in repository.blobs.values {
            guard let file = blob.file else { continue }
            let place: RepositoryOverview.SharedFile.Place =
                blob.sharedHash != nil ? .store : blob.isForeign ? .outside : .own
            add(file, place, "\(repository.folder.name)/blobs/\(blob.name)")
        }
        for revision in repository.revisions {
            for file in revision.files {
                guard let physical = file.file else { continue }
                add(physical, .own, "\(repository.folder.name)/snapshots/\(revision.commit)/\(file.path)")
            }
        }
    }

    private mutating func add(
        _ file: PhysicalFile, _ place: RepositoryOverview.SharedFile.Place, _ path: @autoclosure () -> String
    ) {
        if files[file.identity] == nil {
            // The path is only needed if there are other names.
            let path = place == .own && file.links == 1 ? "" : path()
            files[file.identity] = .init(file: file, place: place, names: 1, isNeeded: false, path: path)
        } else {
            files[file.identity]!.names += 1
            if place == .own { files[file.identity]!.place = .own }
        }
    }

    /// Adds the files of a revision; returns their bytes.
    mutating func add(_ revision: CachedRevision, of repository: CachedRepository) -> Int64 {
        var size: Int64 = 0
        var seen: Set<PhysicalFile.Identity> = []
        seen.reserveCapacity(revision.files.count)
        for file in revision.files {
            guard let physical = file.file ?? file.blob.flatMap({ repository.blobs[$0]?.file }),
                seen.insert(physical.identity).inserted
            else { continue }
            size += physical.size
            files[physical.identity]!.isNeeded = true
        }
        return size
    }
}
