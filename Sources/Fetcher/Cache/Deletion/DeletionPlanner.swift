package import HubCore

/// Builds a plan row by row and counts the names of each file that are deleted by then.
package struct DeletionPlanner {
    let state: CacheState
    let store: SharedStore
    var obstacles: DeletionObstacles
    package internal(set) var plan = DeletionPlan()
    /// The number of kept items.
    private(set) var refusals = 0
    private var count: FreedCount
    private var revisionsGone: [RepositoryFolder: Set<Commit>] = [:]
    /// Deleted paths of revisions that stay.
    private var filesGone: [RepositoryFolder: [Commit: Set<String>]] = [:]
    private var foldersGone: Set<RepositoryFolder> = []

    /// - Parameters:
    ///   - state: read fresh from the disk.
    ///   - protection: items to keep in any case.
    ///   - now: seconds since 1970, to keep recently changed files.
    package init(_ state: CacheState, protection: Protection = Protection(), now: Double = Timestamp.now) {
        self.state = state
        store = SharedStore(layout: state.layout)
        obstacles = DeletionObstacles(protection, now: now)
        count = FreedCount(state.layout)
        plan.details = protection.openFiles.remark.map { [$0] } ?? []
        plan.pinsFault = protection.pinsFault
    }

    /// Bytes freed by the rows so far.
    package var freedBytes: Int64 { plan.freedBytes }

    /// Takes back what was planned since, but not what was found to stay.
    package mutating func takeBack(to earlier: DeletionPlanner) {
        let protected = plan.protected
        self = earlier
        plan.protected = protected
    }

    // MARK: Revisions

    /// Whether the plan already contains a whole revision.
    func isGoing(_ revision: CachedRevision, of repository: CachedRepository) -> Bool {
        revisionsGone[repository.folder]?.contains(revision.commit) == true
            || foldersGone.contains(repository.folder)
    }

    /// Plans the deletion of a revision, or records that it stays because it is in use or pinned.
    package mutating func add(_ revision: CachedRevision, of repository: CachedRepository, reason: String)
        throws(AIError)
    {
        try add(revision, of: repository, reason: reason, blobs: [])
    }

    /// - Parameter left: entries of `blobs/` that the revision needed before its deletion was interrupted.
    mutating func add(
        _ revision: CachedRevision, of repository: CachedRepository, reason: String, blobs left: Set<String>
    ) throws(AIError) {
        let folder = repository.folder
        guard !isGoing(revision, of: repository) else { return }
        if let why = repository.obstacle(to: revision) { return protect(repository, revision.commit, why) }
        let survivors = survivors(of: repository, besides: revision.commit)
        let foreign = try folder.foreignSnapshots(besides: repository.revisions)
        let isLast = survivors.isEmpty && foreign.isEmpty
        let needed = needed(by: survivors, of: repository).union(try blobs(neededBy: foreign, of: repository))
        let own = Set(files(of: revision, folder).compactMap(\.blob)).union(left).subtracting(needed)
        // The last revision takes the whole repository, as in Python, which would not accept the rest as a repository.
        let names = isLast ? Set(repository.blobs.keys) : own.intersection(repository.blobs.keys)
        let partials = isLast ? repository.partials : []
        if isLast, let name = try folder.folderAmongBlobs() {
            return protect(
                repository, revision.commit, "blobs/\(name) is a folder that no Hugging Face library makes")
        }
        if let why = try obstacles.find(revision, of: repository, blobs: names, partials: partials) {
            return protect(repository, revision.commit, why)
        }
        revisionsGone[folder, default: []].insert(revision.commit)
        count.begin()
        for file in files(of: revision, folder) {
            if let physical = file.file {
                count.take(physical, at: Path.join(folder.snapshot(revision.commit), file.path))
            }
        }
        count.take(blobs: names, of: repository)
        count.take(partials: partials, of: folder)
        append(
            repository, .revision(revision.commit), refs: revision.refs, reason,
            // Nothing is known of a revision without a snapshot.
            lastUsedAt: revision.lastUsedAt > 0 ? revision.lastUsedAt : nil, blobs: names)
    }

    /// Plans the deletion of some files of a revision; of all of them, that of the revision.
    ///
    /// - Parameter paths: files of the revision.
    package mutating func add(
        files paths: Set<String>, of revision: CachedRevision, _ repository: CachedRepository, reason: String
    ) throws(AIError) {
        let folder = repository.folder
        guard !isGoing(revision, of: repository) else { return }
        let going = files(of: revision, folder).filter { paths.contains($0.path) }
        guard !going.isEmpty else { return }
        guard going.count < files(of: revision, folder).count else {
            return try add(revision, of: repository, reason: reason)
        }
        if let why = repository.obstacle(to: revision) { return protect(repository, revision.commit, why) }
        let gone = filesGone[folder]?[revision.commit] ?? []
        filesGone[folder, default: [:]][revision.commit] = gone.union(going.map(\.path))
        let foreign = try folder.foreignSnapshots(besides: repository.revisions)
        let needed = needed(by: survivors(of: repository), of: repository).union(
            try blobs(neededBy: foreign, of: repository))
        let names = Set(going.compactMap(\.blob)).subtracting(needed).intersection(repository.blobs.keys)
        if let why = try obstacles.find(revision, of: repository, files: going, blobs: names) {
            filesGone[folder, default: [:]][revision.commit] = gone
            return protect(repository, revision.commit, why)
        }
        count.begin()
        for file in going {
            if let physical = file.file {
                count.take(physical, at: Path.join(folder.snapshot(revision.commit), file.path))
            }
        }
        count.take(blobs: names, of: repository)
        append(
            repository, .files(revision.commit, going.map(\.path)), reason, lastUsedAt: revision.lastUsedAt,
            blobs: names
        )
    }

    /// Plans the deletion of everything of a repository.
    package mutating func add(_ repository: CachedRepository, reason: String) throws(AIError) {
        guard repository.revisions.isEmpty else {
            for revision in repository.revisions { try add(revision, of: repository, reason: reason) }
            return
        }
        if let why = repository.obstacle ?? repository.unwritable { return protect(repository, nil, why) }
        guard try repository.folder.foreignSnapshots(besides: []).isEmpty else {
            return protect(repository, nil, "its snapshots folder holds something that is not a snapshot")
        }
        // An interrupted deletion's revision already took the rest.
        guard !foldersGone.contains(repository.folder), revisionsGone[repository.folder] == nil else { return }
        if let name = try repository.folder.folderAmongBlobs() {
            return protect(repository, nil, "blobs/\(name) is a folder that no Hugging Face library makes")
        }
        let names = Set(repository.blobs.keys)
        if let why = try obstacles.find(repository, blobs: names, partials: repository.partials) {
            return protect(repository, nil, why)
        }
        foldersGone.insert(repository.folder)
        count.begin()
        count.take(blobs: names, of: repository)
        count.take(partials: repository.partials, of: repository.folder)
        append(repository, .remains, refs: repository.danglingRefs, reason, blobs: names)
    }

    // MARK: Items without a revision

    /// Plans the deletion of unfinished downloads.
    package mutating func addPartials(of repository: CachedRepository, now: Double) throws(AIError) {
        var byEtag: [String: [CachedBlob]] = [:]
        for partial in repository.partials {
            byEtag[RepositoryFolder.etag(ofPartial: partial.name), default: []].append(partial)
        }
        for (etag, partials) in byEtag.sorted(by: { $0.key < $1.key }) {
            let left = partials.filter { !count.isGone($0.name, of: repository.folder) }
            guard !left.isEmpty else { continue }
            if let why = try obstacles.find(partials: partials, of: etag, in: repository.folder, now: now) {
                protect(repository, nil, why)
            } else {
                count.begin()
                count.take(partials: left, of: repository.folder)
                append(
                    repository, .partial(left.map(\.name)), "unfinished download",
                    lastUsedAt: partials.compactMap { $0.file?.modified }.max())
            }
        }
    }

    /// Plans the deletion of blobs that no snapshot links to.
    package mutating func addOrphans(of repository: CachedRepository) throws(AIError) {
        try addOrphans(of: repository, among: nil, reason: "no snapshot links to it")
    }

    /// - Parameter names: only these; nil for all.
    mutating func addOrphans(of repository: CachedRepository, among names: Set<String>?, reason: String)
        throws(AIError)
    {
        if let why = repository.obstacle { return protect(repository, nil, why) }
        let foreign = try repository.folder.foreignSnapshots(besides: repository.revisions)
        let spared = try blobs(neededBy: foreign, of: repository)
        let unwritable = repository.orphans.isEmpty ? nil : repository.unwritable
        for blob in repository.orphans
        where !spared.contains(blob.name) && !count.isGone(blob.name, of: repository.folder) {
            guard names?.contains(blob.name) ?? true else { continue }
            let use = try obstacles.find(orphan: blob, in: repository.folder)
            if let why = unwritable ?? use {
                protect(repository, nil, why)
            } else {
                count.begin()
                count.take(blobs: [blob.name], of: repository)
                append(repository, .orphan(blob.name), reason, lastUsedAt: blob.file?.accessed, blobs: [blob.name])
            }
        }
    }

    /// Plans the deletion of payloads of the shared store that no repository links to.
    package mutating func addUnusedPayloads() { addUnusedPayloads(among: nil, reason: "no repository links to it") }

    mutating func addUnusedPayloads(among hashes: Set<String>?, reason: String) {
        for payload in state.unusedPayloads where hashes?.contains(payload.name) ?? true {
            // A payload without a manifest must not be deleted, and one with valid lines is needed by an unknown
            // folder.
            guard let file = payload.file, store.references(payload.name)?.isEmpty == true,
                !plan.rows.contains(where: { $0.subject == .payload(payload.name) })
            else { continue }
            if let user = obstacles.user(of: [payload]) {
                refusals += 1
                plan.remarks.append("the shared payload \(payload.name.prefix(12)) stays: \(user) has it open")
                continue
            }
            count.begin()
            count.take(file, at: store.payload(payload.name))
            plan.rows.append(
                .init(
                    repository: nil, folder: nil, subject: .payload(payload.name), refs: [], reason: reason,
                    freedBytes: count.freed, lastUsedAt: file.accessed, allocatedBytes: count.allocated,
                    payloads: [payload.name]))
        }
        // A payload was deleted, but its manifest was not.
        for hash in (hashes ?? []).sorted() where !FileSystem.exists(store.payload(hash)) {
            guard store.references(hash)?.isEmpty == true else { continue }
            plan.rows.append(
                .init(
                    repository: nil, folder: nil, subject: .payload(hash), refs: [], reason: reason, freedBytes: 0,
                    lastUsedAt: nil, payloads: [hash]))
        }
    }

    // MARK: Rows

    package mutating func protect(_ repository: CachedRepository, _ commit: Commit?, _ reason: String) {
        refusals += 1
        let entry = DeletionPlan.Protected(repository: repository.repository, commit: commit, reason: reason)
        if !plan.protected.contains(entry) { plan.protected.append(entry) }
    }

    private mutating func append(
        _ repository: CachedRepository, _ subject: DeletionPlan.Row.Subject, refs: [String] = [], _ reason: String,
        lastUsedAt: Double? = nil, blobs: Set<String> = []
    ) {
        plan.rows.append(
            .init(
                repository: repository.repository, folder: repository.folder, subject: subject, refs: refs,
                reason: reason, freedBytes: count.freed, lastUsedAt: lastUsedAt, allocatedBytes: count.allocated,
                blobs: blobs, payloads: Set(blobs.compactMap { repository.blobs[$0]?.sharedHash })))
    }

    /// The revisions that stay.
    private func survivors(of repository: CachedRepository, besides commit: Commit? = nil) -> [CachedRevision] {
        let gone = revisionsGone[repository.folder, default: []]
        return repository.revisions.filter { $0.commit != commit && !gone.contains($0.commit) }
    }

    /// The files of a revision that no row deletes.
    private func files(of revision: CachedRevision, _ folder: RepositoryFolder) -> [CachedFile] {
        guard let gone = filesGone[folder]?[revision.commit] else { return revision.files }
        return revision.files.filter { !gone.contains($0.path) }
    }

    private func needed(by revisions: [CachedRevision], of repository: CachedRepository) -> Set<String> {
        Set(revisions.flatMap { files(of: $0, repository.folder).compactMap(\.blob) })
    }

    /// The blobs linked from folders in `snapshots/` that are not snapshots.
    private func blobs(neededBy names: [String], of repository: CachedRepository) throws(AIError) -> Set<String> {
        var out: Set<String> = []
        for name in names {
            out.formUnion(
                try repository.folder.linkedBlobs(below: Path.join(repository.folder.snapshots, name)))
        }
        return out
    }
}

extension CachedRepository {
    /// Why nothing of it can be deleted.
    var obstacle: String? {
        if !isReadable { return "part of it cannot be read, so it is unknown which files it needs" }
        if isElsewhere { return "it is a link to a place outside the cache, where hub deletes nothing" }
        return nil
    }

    /// Why this user cannot delete from it. Trying anyway would remove refs and snapshots and fail at their blobs.
    fileprivate var unwritable: String? {
        folder.unwritable([folder.path, folder.refs, folder.snapshots, folder.blobs])
    }

    /// The same of one revision.
    func obstacle(to revision: CachedRevision) -> String? {
        obstacle ?? unwritable ?? folder.unwritable([folder.snapshot(revision.commit)])
    }
}

extension RepositoryFolder {
    /// The message for folders that this user cannot change.
    fileprivate func unwritable(_ folders: [String]) -> String? {
        folders.first { FileSystem.exists($0) && !FileSystem.isWritable($0) }.map {
            "no permission to write \($0)"
        }
    }

    /// A folder in `blobs/`, such as a notebook's checkpoints.
    fileprivate func folderAmongBlobs() throws(AIError) -> String? {
        for name in try FileSystem.entries(blobs) ?? [] {
            if try FileSystem.linkStatus(blob(name))?.kind == .directory { return name }
        }
        return nil
    }
}
