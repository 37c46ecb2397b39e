package import HubCore

/// Builds a plan row by row. What each row frees comes from the ``DeletionLedger``, after all rows above it.
package struct DeletionPlanner {
    let state: CacheState
    let store: SharedStore
    var obstacles: DeletionObstacles
    package internal(set) var plan = DeletionPlan()
    var ledger: DeletionLedger
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
        ledger = DeletionLedger(state)
        plan.blocks = ledger.blocks
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
        guard !isGoing(revision, of: repository) else { return }
        let files = files(of: revision, repository.folder)
        let choice = try ledger.choice(files, of: repository, isRevision: true)
        let change = ledger.preview(choice)
        if let why = try obstacles.find(revision, of: repository, change) {
            return protect(repository, revision.commit, why)
        }
        going[repository.folder, default: []].insert(revision.commit)
        take(
            choice, repository, .revision(revision.commit), refs: revision.refs, reason,
            lastUsedAt: revision.lastUsedAt)
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
            lastUsedAt: revision.lastUsedAt)
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
        guard going[repository.folder] == nil else { return }
        let choice = try ledger.choice([], of: repository, isRevision: false)
        let change = ledger.preview(choice)
        if let why = try obstacles.find(restOf: repository, change) { return protect(repository, nil, why) }
        going[repository.folder] = []
        take(choice, repository, .remains, refs: repository.danglingRefs, reason)
    }

    // MARK: Items without a revision

    /// Plans the deletion of unfinished downloads.
    package mutating func addPartials(of repository: CachedRepository) throws(AIError) {
        for partials in repository.partialsByEtag {
            try add(partials, of: repository, "unfinished download", \.modified) { .partial($0) }
        }
    }

    /// Plans the deletion of blobs that no snapshot links to.
    package mutating func addOrphans(of repository: CachedRepository) throws(AIError) {
        if let why = repository.obstacle { return protect(repository, nil, why) }
        for blob in try repository.freeOrphans() {
            try add([blob], of: repository, "no snapshot links to it", \.accessed) { .orphan($0[0]) }
        }
    }

    private mutating func add(
        _ blobs: [CachedBlob], of repository: CachedRepository, _ reason: String,
        _ usedAt: KeyPath<PhysicalFile, Double>, _ subject: ([String]) -> DeletionPlan.Row.Subject
    ) throws(AIError) {
        let left = blobs.filter { !ledger.isGone($0.name, of: repository) }.map(\.name)
        guard !left.isEmpty else { return }
        if let why = try obstacles.find(blobs, of: repository) { return protect(repository, nil, why) }
        take(
            try ledger.choice(left, of: repository), repository, subject(left), reason,
            lastUsedAt: blobs.compactMap { $0.file?[keyPath: usedAt] }.max())
    }

    /// Plans the deletion of payloads of the shared store that no repository links to.
    package mutating func addUnusedPayloads() {
        for payload in state.unusedPayloads {
            // A payload without a manifest must not be deleted, and one with valid lines is needed by an unknown
            // folder.
            guard let file = payload.file, store.references(payload.name)?.isEmpty == true else { continue }
            if let user = obstacles.user(of: file) {
                plan.remarks.append("the shared payload \(payload.name.prefix(12)) stays: \(user) has it open")
            } else {
                take(
                    ledger.choice([file]), nil, .payload(payload.name), "no repository links to it",
                    lastUsedAt: file.accessed)
            }
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
        let blocks = try SharedBlocks(below: [folder.path])
        ledger.add(blocks)
        plan.blocks.add(blocks)
        take(ledger.choice(files), nil, .local(folder, names), reason)
    }

    /// Plans the deletion of what Xet's folder can do without.
    mutating func add(_ folder: XetFolder, size: Int64, reason: String) {
        take(ledger.choice(bytes: size), nil, .xet(folder), reason)
    }

    // MARK: Rows

    package mutating func protect(_ repository: CachedRepository, _ commit: Commit?, _ obstacle: Obstacle) {
        let entry = DeletionPlan.Protected(repository: repository.repository, commit: commit, obstacle: obstacle)
        if !plan.protected.contains(entry) { plan.protected.append(entry) }
    }

    private mutating func take(
        _ choice: DeletionLedger.Choice, _ repository: CachedRepository?, _ subject: DeletionPlan.Row.Subject,
        refs: [String] = [], _ reason: String, lastUsedAt: Double? = nil
    ) {
        let change = ledger.take(choice)
        plan.rows.append(
            .init(
                repository: repository?.repository, folder: repository?.folder, subject: subject, refs: refs,
                reason: reason, freedBytes: change.freed.size, lastUsedAt: lastUsedAt,
                allocatedBytes: change.freed.allocated, blobs: Set(change.names)))
    }
}

extension CachedRepository {
    /// The orphans that nothing else in `snapshots/` needs.
    func freeOrphans() throws(AIError) -> [CachedBlob] {
        let foreign = try foreignBlobs() ?? []
        return orphans.filter { !foreign.contains($0.name) }
    }

    /// The unfinished downloads of each blob.
    var partialsByEtag: [[CachedBlob]] {
        Dictionary(grouping: partials) { RepositoryFolder.etag(ofPartial: $0.name) }.sorted { $0.key < $1.key }
            .map(\.value)
    }
}
