import Catalog
import HubCore

/// Decides whether something may be deleted: it may be pinned, or a process may be using it. Asked when a plan is made
/// and again when it is carried out, possibly minutes later.
struct DeletionObstacles {
    let protection: Protection
    private let now: Double
    /// The locked blobs when a repository was first checked.
    private var locked: [RepositoryFolder: Set<String>] = [:]
    private var beingPulled: [RepositoryFolder: Bool] = [:]

    init(_ protection: Protection, now: Double = Timestamp.now) { (self.protection, self.now) = (protection, now) }

    // MARK: Before a plan is made

    /// Why a revision must be kept; nil if it may be deleted.
    ///
    /// - Parameters:
    ///   - files: the files to delete; nil for all.
    ///   - change: what would go with it.
    mutating func find(
        _ revision: CachedRevision, of repository: CachedRepository, files: [CachedFile]? = nil,
        _ change: DeletionLedger.Change, ignoringPin: Bool = false
    ) throws(AIError) -> Obstacle? {
        let folder = repository.folder
        if let why = repository.obstacle ?? repository.unwritable { return why }
        if let why = folder.unwritable([folder.snapshot(revision.commit)]) { return why }
        if !ignoringPin, let pin = protection.pin(folder, revision.commit) { return .pinned(note: pin.note) }
        if change.isWhole, let why = try folder.folderAmongBlobs() { return why }
        if let why = try findWork(on: folder, change.names) { return why }
        let others = repository.revisions.filter { $0.commit != revision.commit }
        let download = try findDownload(of: revision.commit, in: folder) { Set(others.flatMap(\.usedBlobs)) }
        if let download { return download }
        for file in files ?? revision.files {
            if let user = user(of: file.file ?? file.blob.flatMap { repository.blobs[$0]?.file }) {
                return .inUse(.open(by: user, file.path))
            }
        }
        return findReader(of: repository, change.names)
    }

    /// Why all that is left of a repository without revisions must be kept.
    mutating func find(restOf repository: CachedRepository, _ change: DeletionLedger.Change) throws(AIError)
        -> Obstacle?
    {
        if let why = repository.obstacle ?? repository.unwritable { return why }
        guard try repository.foreignBlobs() == nil else { return .foreignSnapshot }
        if let why = try repository.folder.folderAmongBlobs() { return why }
        return try findWork(on: repository.folder, change.names) ?? findReader(of: repository, change.names)
    }

    /// Why the unfinished downloads of one blob, or a blob without links, must be kept.
    mutating func find(_ blobs: [CachedBlob], of repository: CachedRepository) throws(AIError) -> Obstacle? {
        if let why = repository.obstacle ?? repository.unwritable { return why }
        let etag = RepositoryFolder.etag(ofPartial: blobs[0].name)
        if try locks(in: repository.folder).contains(etag) { return .inUse(.locked(etag)) }
        if let user = blobs.compactMap({ user(of: $0.file) }).first {
            return .inUse(.open(by: user, "\(etag.prefix(12))"))
        }
        return freshness(of: repository.partials.filter { blobs.contains($0) })
    }

    /// A process that has a file open.
    func user(of file: PhysicalFile?) -> String? { file.flatMap { protection.openFiles.users[$0.identity] } }

    // MARK: Before a row is carried out

    /// Why a row of a plan must be kept now. Its caller holds the repository's lock.
    mutating func find(_ row: DeletionPlan.Row, in folder: RepositoryFolder) throws(AIError) -> Obstacle? {
        var places: [String] = []
        if let commit = row.subject.commit {
            if let pin = protection.pin(folder, commit) { return .pinned(note: pin.note) }
            let download = try findDownload(of: commit, in: folder) { () throws(AIError) in
                try folder.linkedBlobs(below: folder.snapshots, besides: commit.hash)
            }
            if let download { return download }
            places = [folder.snapshot(commit)]
        }
        if try row.isWhole(in: folder) {
            if let held = try locks(in: folder).min() { return .inUse(.locked(held)) }
            if let why = try folder.folderAmongBlobs() { return why }
            places.append(folder.blobs)
        }
        guard !protection.openFiles.users.isEmpty else { return nil }
        for place in places {
            if let user = try user(below: place) { return .inUse(.open(by: user, "a file of it")) }
        }
        return nil
    }

    /// A process that has a file below a folder open, links followed.
    private func user(below path: String) throws(AIError) -> String? {
        for name in try FileSystem.entries(path) ?? [] {
            let child = Path.join(path, name)
            let isFolder = try FileSystem.linkStatus(child)?.kind == .directory
            let user =
                try isFolder ? user(below: child) : user(of: FileSystem.status(child).map { PhysicalFile($0) })
            if let user { return user }
        }
        return nil
    }

    // MARK: Parts

    /// The pull of a repository, or the download of one of these entries.
    private mutating func findWork(on folder: RepositoryFolder, _ names: [String]) throws(AIError) -> Obstacle? {
        if beingPulled[folder] == nil { beingPulled[folder] = try RepositoryUse.claim(folder) == nil }
        if beingPulled[folder] == true { return .inUse(.pulled) }
        let held = try locks(in: folder)
        return held.intersection(names.map { RepositoryFolder.etag(ofPartial: $0) }).min().map {
            .inUse(.locked($0))
        }
    }

    /// Python fetches files one by one and holds no lock in between: a lock on any file of a commit means it is being
    /// fetched. If its files are unknown, any lock that is not another revision's counts.
    private mutating func findDownload(
        of commit: Commit, in folder: RepositoryFolder, others: () throws(AIError) -> Set<String>
    ) throws(AIError) -> Obstacle? {
        let held = try locks(in: folder)
        guard !held.isEmpty else { return nil }
        let tree = try folder.readTree(commit)
        guard let tree else { return try held.subtracting(others()).min().map { .inUse(.locked($0)) } }
        return held.intersection(tree.files.map(\.digest.hex)).min().map { .inUse(.locked($0)) }
    }

    private func findReader(of repository: CachedRepository, _ names: [String]) -> Obstacle? {
        let partials = repository.partials.filter { names.contains($0.name) }
        for blob in names.sorted().compactMap({ repository.blobs[$0] }) + partials {
            if let user = user(of: blob.file) { return .inUse(.open(by: user, "\(blob.name.prefix(12))")) }
        }
        return freshness(of: partials)
    }

    /// Other clients' unfinished downloads are kept for an hour after their last change, because not all of them take a
    /// lock.
    private func freshness(of partials: [CachedBlob]) -> Obstacle? {
        let others = partials.filter { !$0.name.contains(".hub.") }
        guard let newest = others.max(by: { $0.file?.modified ?? 0 < $1.file?.modified ?? 0 }),
            let modified = newest.file?.modified, now - modified < 3600
        else { return nil }
        return .fresh(etag: RepositoryFolder.etag(ofPartial: newest.name), minutes: Int((now - modified) / 60))
    }

    private mutating func locks(in folder: RepositoryFolder) throws(AIError) -> Set<String> {
        if let known = locked[folder] { return known }
        let held = try folder.heldLocks()
        locked[folder] = held
        return held
    }
}

extension CachedRepository {
    /// Why nothing of it can be deleted.
    var obstacle: Obstacle? { isReadable ? isElsewhere ? .elsewhere : nil : .unreadable }

    /// Why this user cannot delete from it.
    fileprivate var unwritable: Obstacle? {
        folder.unwritable([folder.path, folder.refs, folder.snapshots, folder.blobs])
    }
}

extension DeletionPlan.Row {
    /// Whether the repository goes with it: nothing else is in `snapshots/`.
    func isWhole(in folder: RepositoryFolder) throws(AIError) -> Bool {
        switch subject {
        case .revision(let commit): try folder.snapshotNames() == [commit.hash]
        case .remains: try folder.snapshotNames().isEmpty
        default: false
        }
    }
}

extension RepositoryFolder {
    /// The folder that this user cannot change.
    fileprivate func unwritable(_ folders: [String]) -> Obstacle? {
        folders.first { FileSystem.exists($0) && !FileSystem.isWritable($0) }.map { .unwritable($0) }
    }

    fileprivate func folderAmongBlobs() throws(AIError) -> Obstacle? {
        for name in try FileSystem.entries(blobs) ?? []
        where try FileSystem.linkStatus(blob(name))?.kind == .directory {
            return .folderAmongBlobs(name)
        }
        return nil
    }
}

extension CachedRevision {
    /// The entries of `blobs/` that its links point to.
    fileprivate var usedBlobs: Set<String> { Set(files.compactMap(\.blob)) }
}
