package import HubCore

/// Builds a plan row by row. What each row frees comes from the ``DeletionLedger``, after all rows above it.
package struct DeletionPlanner {
    let state: CacheState
    let store: SharedStore
    var obstacles: DeletionObstacles
    package internal(set) var plan = DeletionPlan()
    var ledger: DeletionLedger
    /// The number of kept items.
    private(set) var refusals = 0
    /// By repository: the revisions that go. An empty set if the rest of one without revisions goes.
    private var going: [RepositoryFolder: Set<Commit>] = [:]
    /// Deleted paths of revisions that stay.
    private var filesGone: [RepositoryFolder: [Commit: Set<String>]] = [:]

    /// - Parameters:
    ///   - state: read fresh from the disk.
    ///   - protection: items to keep in any case.
    ///   - now: seconds since 1970, to keep recently changed files.
    package init(_ state: CacheState, protection: Protection = Protection(), now: Double = Timestamp.now) {
        self.state = state
        store = SharedStore(layout: state.layout)
        obstacles = DeletionObstacles(protection, now: now)
        ledger = DeletionLedger(state.layout)
        plan.details = protection.openFiles.remark.map { [$0] } ?? []
        plan.pinsFault = protection.pinsFault
    }

    /// Takes back what was planned since, but not what was found to stay.
    package mutating func takeBack(to earlier: DeletionPlanner) {
        let protected = plan.protected
        self = earlier
        plan.protected = protected
    }

    // MARK: Revisions

    /// Whether the plan already contains a whole revision.
    func isGoing(_ revision: CachedRevision, of repository: CachedRepository) -> Bool {
        going[repository.folder].map { $0.isEmpty || $0.contains(revision.commit) } ?? false
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
        guard !isGoing(revision, of: repository) else { return }
        let files = files(of: revision, repository.folder)
        // That of an interrupted deletion may have lost its snapshot.
        let isThere = repository.revisions.contains { $0.commit == revision.commit }
        let choice = try ledger.choice(files, of: repository, isRevision: isThere, left: left)
        let change = ledger.preview(choice)
        if let why = try obstacles.find(revision, of: repository, change) {
            return protect(repository, revision.commit, why)
        }
        going[repository.folder, default: []].insert(revision.commit)
        take(
            choice, repository, .revision(revision.commit), refs: revision.refs, reason,
            // Nothing is known of a revision without a snapshot.
            lastUsedAt: revision.lastUsedAt > 0 ? revision.lastUsedAt : nil, blobs: change.names)
    }

    /// Plans the deletion of some files of a revision; of all of them, that of the revision.
    ///
    /// - Parameter paths: files of the revision.
    package mutating func add(
        files paths: Set<String>, of revision: CachedRevision, _ repository: CachedRepository, reason: String
    ) throws(AIError) {
        let folder = repository.folder
        guard !isGoing(revision, of: repository) else { return }
        let left = files(of: revision, folder)
        let files = left.filter { paths.contains($0.path) }
        guard !files.isEmpty else { return }
        guard files.count < left.count else { return try add(revision, of: repository, reason: reason) }
        let choice = try ledger.choice(files, of: repository, isRevision: false)
        let change = ledger.preview(choice)
        if let why = try obstacles.find(revision, of: repository, files: files, change) {
            return protect(repository, revision.commit, why)
        }
        filesGone[folder, default: [:]][revision.commit, default: []].formUnion(files.map(\.path))
        take(
            choice, repository, .files(revision.commit, files.map(\.path)), reason,
            lastUsedAt: revision.lastUsedAt, blobs: change.names)
    }

    /// The files of a revision that no row deletes.
    private func files(of revision: CachedRevision, _ folder: RepositoryFolder) -> [CachedFile] {
        guard let gone = filesGone[folder]?[revision.commit] else { return revision.files }
        return revision.files.filter { !gone.contains($0.path) }
    }

    /// Plans the deletion of everything of a repository.
    package mutating func add(_ repository: CachedRepository, reason: String) throws(AIError) {
        guard repository.revisions.isEmpty else {
            for revision in repository.revisions { try add(revision, of: repository, reason: reason) }
            return
        }
        // An interrupted deletion's revision may have taken it.
        guard going[repository.folder] == nil else { return }
        let choice = try ledger.choice([], of: repository, isRevision: false)
        let change = ledger.preview(choice)
        if let why = try obstacles.find(restOf: repository, change) { return protect(repository, nil, why) }
        going[repository.folder] = []
        take(choice, repository, .remains, refs: repository.danglingRefs, reason, blobs: change.names)
    }

    // MARK: Items without a revision

    /// Plans the deletion of unfinished downloads.
    package mutating func addPartials(of repository: CachedRepository) throws(AIError) {
        for (etag, partials) in repository.partialsByEtag {
            let left = partials.filter { !ledger.isGone($0.name, of: repository) }.map(\.name)
            guard !left.isEmpty else { continue }
            if let why = try obstacles.find(partials: partials, of: etag, in: repository.folder) {
                protect(repository, nil, why)
            } else {
                take(
                    try ledger.choice(left, of: repository), repository, .partial(left), "unfinished download",
                    lastUsedAt: partials.compactMap { $0.file?.modified }.max())
            }
        }
    }

    /// Plans the deletion of blobs that no snapshot links to.
    ///
    /// - Parameter names: only these; nil for all.
    package mutating func addOrphans(
        of repository: CachedRepository, among names: Set<String>? = nil, reason: String = "no snapshot links to it"
    ) throws(AIError) {
        if let why = repository.obstacle { return protect(repository, nil, why) }
        for blob in try repository.freeOrphans() where names?.contains(blob.name) ?? true {
            if ledger.isGone(blob.name, of: repository) { continue }
            if let why = try obstacles.find(orphan: blob, of: repository) {
                protect(repository, nil, why)
            } else {
                take(
                    try ledger.choice([blob.name], of: repository), repository, .orphan(blob.name), reason,
                    lastUsedAt: blob.file?.accessed, blobs: [blob.name])
            }
        }
    }

    /// Plans the deletion of payloads of the shared store that no repository links to.
    ///
    /// - Parameter hashes: only these; nil for all.
    package mutating func addUnusedPayloads(
        among hashes: Set<String>? = nil, reason: String = "no repository links to it"
    ) {
        for payload in state.unusedPayloads where hashes?.contains(payload.name) ?? true {
            // A payload without a manifest must not be deleted, and one with valid lines is needed by an unknown
            // folder.
            guard let file = payload.file, store.references(payload.name)?.isEmpty == true,
                !plan.rows.contains(where: { $0.subject == .payload(payload.name) })
            else { continue }
            if let user = obstacles.user(of: file) {
                refusals += 1
                plan.remarks.append("the shared payload \(payload.name.prefix(12)) stays: \(user) has it open")
            } else {
                take(ledger.choice([file]), nil, .payload(payload.name), reason, lastUsedAt: file.accessed)
            }
        }
        // A payload was deleted, but its manifest was not.
        for hash in (hashes ?? []).sorted() where !FileSystem.exists(store.payload(hash)) {
            guard store.references(hash)?.isEmpty == true else { continue }
            take(ledger.choice([]), nil, .payload(hash), reason)
        }
    }

    /// Plans the deletion of unchanged files in a local folder.
    ///
    /// - Parameter open: its files that other processes have open.
    package mutating func add(_ folder: LocalFolder, sparing open: OpenFiles, reason: String) throws(AIError) {
        let (names, files, kept) = try LocalRemoval(folder: folder, openFiles: open).sort()
        plan.protected += kept
        // If no fetched file is left, the bookkeeping is deleted.
        guard !names.isEmpty || kept.isEmpty else { return }
        take(ledger.choice(files), nil, .local(folder, names), reason)
    }

    // MARK: Rows

    package mutating func protect(_ repository: CachedRepository, _ commit: Commit?, _ obstacle: Obstacle) {
        refusals += 1
        let entry = DeletionPlan.Protected(repository: repository.repository, commit: commit, obstacle: obstacle)
        if !plan.protected.contains(entry) { plan.protected.append(entry) }
    }

    /// - Parameter names: entries of `blobs/` that the row names in the journal.
    private mutating func take(
        _ choice: DeletionLedger.Choice, _ repository: CachedRepository?, _ subject: DeletionPlan.Row.Subject,
        refs: [String] = [], _ reason: String, lastUsedAt: Double? = nil, blobs names: [String] = []
    ) {
        let change = ledger.take(choice)
        plan.freedFiles.formUnion(change.files)
        let blobs = names.filter { repository?.blobs[$0] != nil }
        var payloads = Set(blobs.compactMap { repository?.blobs[$0]?.sharedHash })
        if case .payload(let hash) = subject { payloads = [hash] }
        plan.rows.append(
            .init(
                repository: repository?.repository, folder: repository?.folder, subject: subject, refs: refs,
                reason: reason, freedBytes: change.freed.size, lastUsedAt: lastUsedAt,
                allocatedBytes: change.freed.allocated, blobs: Set(blobs), payloads: payloads))
    }
}

extension CachedRepository {
    /// The orphans that nothing else in `snapshots/` needs.
    func freeOrphans() throws(AIError) -> [CachedBlob] {
        let foreign = try foreignBlobs() ?? []
        return orphans.filter { !foreign.contains($0.name) }
    }

    /// The unfinished downloads of each blob.
    var partialsByEtag: [(etag: String, partials: [CachedBlob])] {
        Dictionary(grouping: partials) { RepositoryFolder.etag(ofPartial: $0.name) }.sorted { $0.key < $1.key }.map
        {
            ($0.key, $0.value)
        }
    }
}

extension CachedRevision {
    /// The entries of `blobs/` that its links point to.
    var usedBlobs: Set<String> { Set(files.compactMap(\.blob)) }
}
