import Catalog
import HubCore

/// Why something may not be deleted: it is pinned, or a process is using it. Checked when a plan is made and again when
/// it is carried out, possibly minutes later.
struct DeletionObstacles {
    let protection: Protection
    private let now: Double
    /// The locked blobs when a repository was first checked.
    private var locked: [RepositoryFolder: Set<String>] = [:]
    private var beingPulled: [RepositoryFolder: Bool] = [:]

    init(_ protection: Protection, now: Double = Timestamp.now) { (self.protection, self.now) = (protection, now) }

    /// Why a revision must be kept; nil if it may be deleted.
    ///
    /// - Parameters:
    ///   - files: the files to delete; nil for all.
    ///   - blobs, partials: entries of `blobs/` that would be deleted with it.
    mutating func find(
        _ revision: CachedRevision, of repository: CachedRepository, files: [CachedFile]? = nil, blobs: Set<String>,
        partials: [CachedBlob] = []
    ) throws(AIError) -> String? {
        if let pin = protection.pin(repository.folder, revision.commit) {
            return "pinned" + (pin.note.map { ": \($0)" } ?? "")
        }
        return try findUse(of: revision, of: repository, files: files, blobs: blobs, partials: partials)
    }

    /// The user of a revision, pinned or not.
    mutating func findUse(
        of revision: CachedRevision, of repository: CachedRepository, files: [CachedFile]? = nil,
        blobs: Set<String>,
        partials: [CachedBlob]
    ) throws(AIError) -> String? {
        if let why = try findWork(on: repository.folder, blobs: blobs, partials: partials) { return why }
        if let etag = try beingFetched(for: revision, of: repository) {
            return "in use: \(etag.prefix(12)) is being downloaded"
        }
        for file in files ?? revision.files {
            let physical = file.file ?? file.blob.flatMap { repository.blobs[$0]?.file }
            if let physical, let user = protection.openFiles.users[physical.identity] {
                return "in use: \(user) has \(file.path) open"
            }
        }
        return findReader(of: repository, blobs: blobs, partials: partials) ?? Self.freshness(of: partials, now)
    }

    /// Why these entries of a repository must be kept.
    mutating func find(_ repository: CachedRepository, blobs: Set<String>, partials: [CachedBlob]) throws(AIError)
        -> String?
    {
        try findWork(on: repository.folder, blobs: blobs, partials: partials)
            ?? findReader(of: repository, blobs: blobs, partials: partials) ?? Self.freshness(of: partials, now)
    }

    /// Why the unfinished downloads of one blob must be kept.
    mutating func find(partials: [CachedBlob], of etag: String, in folder: RepositoryFolder, now: Double)
        throws(AIError) -> String?
    {
        if try isHeld(etag, in: folder) { return "in use: \(etag.prefix(12)) is being downloaded" }
        return user(of: partials).map { "in use: \($0) has \(etag.prefix(12)) open" }
            ?? Self.freshness(of: partials, now)
    }

    /// Other clients' unfinished downloads are kept for an hour after their last change, because not all of them take a
    /// lock.
    private static func freshness(of partials: [CachedBlob], _ now: Double) -> String? {
        let others = partials.filter { !$0.name.contains(".hub.") }
        guard let newest = others.max(by: { $0.file?.modified ?? 0 < $1.file?.modified ?? 0 }),
            let modified = newest.file?.modified, now - modified < 3600
        else { return nil }
        let minutes = Int((now - modified) / 60)
        let age = minutes < 1 ? "less than a minute" : minutes == 1 ? "1 minute" : "\(minutes) minutes"
        return
            "changed \(age) ago: another program may still be writing the unfinished download \(RepositoryFolder.etag(ofPartial: newest.name).prefix(12))"
    }

    /// Why a blob without links must be kept.
    mutating func find(orphan blob: CachedBlob, in folder: RepositoryFolder) throws(AIError) -> String? {
        if try isHeld(blob.name, in: folder) {
            return "in use: another process is about to link \(blob.name.prefix(12))"
        }
        return user(of: [blob]).map { "in use: \($0) has \(blob.name.prefix(12)) open" }
    }

    /// The process that is downloading.
    private mutating func findWork(on folder: RepositoryFolder, blobs: Set<String>, partials: [CachedBlob])
        throws(AIError) -> String?
    {
        if try isBeingPulled(folder) { return "in use: it is being downloaded" }
        let etags = blobs.union(partials.map { RepositoryFolder.etag(ofPartial: $0.name) })
        let held = try locks(in: folder).intersection(etags).min()
        return held.map { "in use: another process is writing \($0.prefix(12))" }
    }

    /// The process that has a file of it open.
    private func findReader(of repository: CachedRepository, blobs: Set<String>, partials: [CachedBlob]) -> String?
    {
        for name in blobs.sorted() {
            if let blob = repository.blobs[name], let user = user(of: [blob]) {
                return "in use: \(user) has \(name.prefix(12)) open"
            }
        }
        return user(of: partials).map { "in use: \($0) is writing to it" }
    }

    /// Whether another process holds the lock of a blob. A lock file that was never made locks nothing.
    mutating func isHeld(_ etag: String, in folder: RepositoryFolder) throws(AIError) -> Bool {
        try locks(in: folder).contains(etag)
    }

    /// A process that has one of these open.
    func user(of blobs: [CachedBlob]) -> String? {
        for blob in blobs {
            if let file = blob.file, let user = protection.openFiles.users[file.identity] { return user }
        }
        return nil
    }

    /// Python fetches files one by one and holds no lock in between: a lock on any file of a commit means it is being
    /// fetched. If its files are unknown, any lock that is not another revision's counts.
    private mutating func beingFetched(for revision: CachedRevision, of repository: CachedRepository)
        throws(AIError)
        -> String?
    {
        let held = try locks(in: repository.folder)
        guard !held.isEmpty else { return nil }
        if let tree = try repository.folder.readTree(revision.commit) {
            return held.intersection(tree.files.map(\.digest.hex)).min()
        }
        let others = repository.revisions.filter { $0.commit != revision.commit }
        return held.subtracting(others.flatMap { $0.files.compactMap(\.blob) }).min()
    }

    private mutating func locks(in folder: RepositoryFolder) throws(AIError) -> Set<String> {
        if let known = locked[folder] { return known }
        let held = try folder.heldLocks()
        locked[folder] = held
        return held
    }

    private mutating func isBeingPulled(_ folder: RepositoryFolder) throws(AIError) -> Bool {
        if let known = beingPulled[folder] { return known }
        let isPulled = try RepositoryUse.claim(folder) == nil
        beingPulled[folder] = isPulled
        return isPulled
    }
}
