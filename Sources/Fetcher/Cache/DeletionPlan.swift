package import HubCore

/// What is to go, why, and what each step frees. Made from a fresh scan, shown to a person, then carried out as it is.
package struct DeletionPlan: Sendable {
    /// One thing that goes.
    package struct Row: Sendable {
        package enum Subject: Sendable, Hashable {
            case revision(Commit)
            /// A partial download: names in `blobs/`, the partial and its map.
            case partial([String])
            /// A blob that no snapshot links to.
            case orphan(String)
            /// What is left of a repository without any revision.
            case remains
            /// A payload of the shared store that no repository links to.
            case payload(String)
        }
        package var repository: Repository?
        package var folder: RepositoryFolder?
        package var subject: Subject
        package var refs: [String]
        package var reason: String
        /// Bytes that go with this row after all rows above it: st_size of files whose last name it is.
        package var freedBytes: Int64
        package var lastUsedAt: Double?
    }

    /// Something that was asked for and stays.
    package struct Protected: Sendable, Hashable {
        package var repository: Repository
        package var commit: Commit?
        package var reason: String
    }

    package internal(set) var rows: [Row] = []
    package internal(set) var protected: [Protected] = []
    package var freedBytes: Int64 { rows.reduce(0) { $0 + $1.freedBytes } }
    package var isEmpty: Bool { rows.isEmpty }
}

/// Builds a plan row by row, keeping count of which names of which files are gone by then.
package struct DeletionPlanner {
    let state: CacheState
    private let store: SharedStore
    package private(set) var plan = DeletionPlan()
    /// Names taken from each physical file so far.
    private var namesGone: [PhysicalFile.Identity: UInt64] = [:]
    private var revisionsGone: [RepositoryFolder: Set<Commit>] = [:]
    private var blobsGone: [RepositoryFolder: Set<String>] = [:]
    private var foldersGone: Set<RepositoryFolder> = []
    private var locked: [RepositoryFolder: Set<String>] = [:]

    /// - Parameter state: read fresh from the disk.
    package init(_ state: CacheState) {
        self.state = state
        store = SharedStore(layout: state.layout)
    }

    /// Bytes freed by the rows so far.
    package var freedBytes: Int64 { plan.freedBytes }

    /// Plans the deletion of a revision; says so instead where it is in use.
    package mutating func add(_ revision: CachedRevision, of repository: CachedRepository, reason: String)
        throws(AIError)
    {
        let gone = revisionsGone[repository.folder, default: []]
        guard !gone.contains(revision.commit), !foldersGone.contains(repository.folder) else { return }
        if let reason = Self.obstacle(repository) { return protect(repository, revision.commit, reason) }
        let survivors = repository.revisions.filter { $0.commit != revision.commit && !gone.contains($0.commit) }
        let foreign = try repository.folder.foreignSnapshots(besides: repository.revisions)
        let isLast = survivors.isEmpty && foreign.isEmpty
        let needed = Set(survivors.flatMap { $0.files.compactMap(\.blob) }).union(
            try blobs(neededBy: foreign, of: repository))
        let own = Set(revision.files.compactMap(\.blob)).subtracting(needed).intersection(repository.blobs.keys)
        // With its last revision a repository goes whole, as in Python: what were left would be no repository to it.
        let blobs = isLast ? Set(repository.blobs.keys) : own
        let partials = isLast ? repository.partials : []
        if let held = try heldLock(repository, blobs.union(partials.map { Self.etag(ofPartial: $0.name) })) {
            protect(repository, revision.commit, "in use: another process is writing \(held.prefix(12))")
            return
        }
        revisionsGone[repository.folder, default: []].insert(revision.commit)
        var freed: Int64 = 0
        for file in revision.files { if let physical = file.file { freed += take(physical) } }
        freed += takeBlobs(blobs, of: repository)
        for partial in partials where !blobsGone[repository.folder, default: []].contains(partial.name) {
            if let physical = partial.file { freed += take(physical) }
            blobsGone[repository.folder, default: []].insert(partial.name)
        }
        plan.rows.append(
            .init(
                repository: repository.repository, folder: repository.folder, subject: .revision(revision.commit),
                refs: revision.refs, reason: reason, freedBytes: freed, lastUsedAt: revision.lastUsedAt))
    }

    /// Plans the deletion of everything of a repository.
    package mutating func add(_ repository: CachedRepository, reason: String) throws(AIError) {
        guard repository.revisions.isEmpty else {
            for revision in repository.revisions { try add(revision, of: repository, reason: reason) }
            return
        }
        if let reason = Self.obstacle(repository) { return protect(repository, nil, reason) }
        guard try repository.folder.foreignSnapshots(besides: []).isEmpty else {
            protect(repository, nil, "it holds something that is no snapshot")
            return
        }
        guard foldersGone.insert(repository.folder).inserted else { return }
        let names = Set(repository.blobs.keys)
        if let held = try heldLock(
            repository, names.union(repository.partials.map { Self.etag(ofPartial: $0.name) }))
        {
            protect(repository, nil, "in use: another process is writing \(held.prefix(12))")
            return
        }
        var freed = takeBlobs(names, of: repository)
        for partial in repository.partials { if let physical = partial.file { freed += take(physical) } }
        plan.rows.append(
            .init(
                repository: repository.repository, folder: repository.folder, subject: .remains,
                refs: repository.danglingRefs,
                reason: reason, freedBytes: freed, lastUsedAt: nil))
    }

    /// Plans the deletion of unfinished downloads. Another client's is left alone for an hour, for its clients take no
    /// lock that would show that they are at work.
    package mutating func addPartials(of repository: CachedRepository, now: Double) throws(AIError) {
        var byEtag: [String: [CachedBlob]] = [:]
        for partial in repository.partials {
            byEtag[Self.etag(ofPartial: partial.name), default: []].append(partial)
        }
        for (etag, partials) in byEtag.sorted(by: { $0.key < $1.key }) {
            let names = partials.map(\.name).filter { !blobsGone[repository.folder, default: []].contains($0) }
            guard !names.isEmpty else { continue }
            let newest = partials.compactMap { $0.file?.modified }.max() ?? 0
            let isOurs = partials.allSatisfy { $0.name.contains(".hub.") }
            if try heldLock(repository, [etag]) != nil {
                protect(repository, nil, "in use: \(etag.prefix(12)) is being downloaded")
            } else if !isOurs, now - newest < 3600 {
                protect(repository, nil, "in use: another program may still be downloading \(etag.prefix(12))")
            } else {
                let freed = partials.compactMap(\.file).reduce(Int64(0)) { sum, file in sum + take(file) }
                blobsGone[repository.folder, default: []].formUnion(names)
                plan.rows.append(
                    .init(
                        repository: repository.repository, folder: repository.folder, subject: .partial(names),
                        refs: [],
                        reason: "unfinished download", freedBytes: freed, lastUsedAt: newest))
            }
        }
    }

    /// Plans the deletion of blobs that no snapshot links to.
    package mutating func addOrphans(of repository: CachedRepository) throws(AIError) {
        if let reason = Self.obstacle(repository) { return protect(repository, nil, reason) }
        let foreign = try repository.folder.foreignSnapshots(besides: repository.revisions)
        let spared = try blobs(neededBy: foreign, of: repository).union(blobsGone[repository.folder, default: []])
        for blob in repository.orphans where !spared.contains(blob.name) {
            if try heldLock(repository, [blob.name]) != nil {
                protect(repository, nil, "in use: \(blob.name.prefix(12)) is about to be linked")
                continue
            }
            let freed = takeBlobs([blob.name], of: repository)
            plan.rows.append(
                .init(
                    repository: repository.repository, folder: repository.folder, subject: .orphan(blob.name),
                    refs: [],
                    reason: "no snapshot links to it", freedBytes: freed, lastUsedAt: blob.file?.accessed))
        }
    }

    /// Plans the deletion of payloads of the shared store that nothing links to.
    package mutating func addUnusedPayloads() {
        for payload in state.unusedPayloads {
            guard store.references(payload.name)?.isEmpty == true, let file = payload.file else { continue }
            plan.rows.append(
                .init(
                    repository: nil, folder: nil, subject: .payload(payload.name), refs: [],
                    reason: "no repository links to it", freedBytes: take(file), lastUsedAt: file.accessed))
        }
    }

    /// Why nothing of a repository can be planned to go.
    private static func obstacle(_ repository: CachedRepository) -> String? {
        if !repository.isReadable { return "not all of it can be read, so what it needs is not known" }
        if repository.isElsewhere {
            return "a link leads to it, and what lies outside of the cache is somebody's own"
        }
        return nil
    }

    package mutating func protect(_ repository: CachedRepository, _ commit: Commit?, _ reason: String) {
        let entry = DeletionPlan.Protected(repository: repository.repository, commit: commit, reason: reason)
        if !plan.protected.contains(entry) { plan.protected.append(entry) }
    }

    /// What folders in `snapshots/` that are no snapshots link to.
    private func blobs(neededBy names: [String], of repository: CachedRepository) throws(AIError) -> Set<String> {
        var out: Set<String> = []
        for name in names {
            out.formUnion(
                try repository.folder.linkedBlobs(below: Path.join(repository.folder.snapshots, name)))
        }
        return out
    }

    // MARK: Counting

    /// Bytes that go when these entries of `blobs/` go.
    private mutating func takeBlobs(_ names: Set<String>, of repository: CachedRepository) -> Int64 {
        var freed: Int64 = 0
        for name in names.sorted() where blobsGone[repository.folder, default: []].insert(name).inserted {
            guard let blob = repository.blobs[name], !blob.isForeign, let file = blob.file else { continue }
            if let hash = blob.sharedHash {
                // The link itself holds nothing; the payload goes with the last true line of its manifest.
                guard let lines = store.references(hash) else { continue }
                let left = lines.filter { line in
                    let parts = line.split(separator: "/")
                    let folder = RepositoryFolder(cache: state.layout, name: String(parts[0]))
                    return !blobsGone[folder, default: []].contains(String(parts[2]))
                }
                if left.isEmpty { freed += take(file) }
            } else {
                freed += take(file)
            }
        }
        return freed
    }

    /// Takes one name of a file away: its size if that was the last name, else nothing.
    private mutating func take(_ file: PhysicalFile) -> Int64 {
        namesGone[file.identity, default: 0] += 1
        return namesGone[file.identity]! == file.links ? file.size : 0
    }

    /// The first of these blobs whose lock another process holds. A lock file that was never made locks nothing.
    private mutating func heldLock(_ repository: CachedRepository, _ etags: Set<String>) throws(AIError) -> String?
    {
        if locked[repository.folder] == nil {
            locked[repository.folder] = try repository.folder.heldLocks()
        }
        return etags.sorted().first { locked[repository.folder]!.contains($0) }
    }

    /// The blob that a partial is for: what stands before the first dot, one at the very beginning left out.
    static func etag(ofPartial name: String) -> String {
        String(name.dropFirst(name.hasPrefix(".") ? 1 : 0).prefix { $0 != "." })
    }
}
