package import Catalog
package import HubCore

/// Scans a cache folder, or only its changes since the stored scan.
package struct CacheScanner {
    let layout: CacheLayout
    let catalog: Catalog?
    let store: SharedStore?

    /// - Parameter catalog: stores scans and has trees and times of use; nil reads everything.
    package init(_ layout: CacheLayout, catalog: Catalog?) {
        self.layout = layout
        self.catalog = catalog
        let store = SharedStore(layout: layout)
        self.store = store.exists() ? store : nil
    }

    /// Names in the cache's root that Python's scan ignores, then names of transformers, diffusers and Hugging Face's
    /// Swift client, which Python warns about.
    private static let knownNames: Set<String> = [
        ".locks", "CACHEDIR.TAG", ".DS_Store", "Thumbs.db", "desktop.ini",
        "version.txt", "version_diffusers_cache.txt", ".metadata",
    ]

    /// The state of the cache; an absent folder is an empty cache.
    ///
    /// - Parameter fresh: reads everything from the disk, for decisions about deleting.
    package func scan(fresh: Bool = false) throws(AIError) -> CacheState {
        let uses = try catalog.map { catalog throws(AIError) in try CacheRecord(layout, in: catalog).uses() } ?? [:]
        let (candidates, foreign) = try candidates()
        var findings = try findings(candidates, fresh: fresh, detailed: true)
        try addRepositories(to: &findings, candidates, where: { _ in true })
        var state = CacheState(
            layout: layout, repositories: findings.map { $0.repository! }, unusedPayloads: [], foreign: foreign,
            keepsAccessTimes: FileSystem.keepsAccessTimes(layout.root))
        for index in state.repositories.indices { addTimes(to: &state.repositories[index]) }
        let sweep = AccessSweep(state.repositories.compactMap { $0.revisions.map(\.lastUsedAt).max() })
        for index in state.repositories.indices {
            let name = state.repositories[index].folder.name
            state.repositories[index].addUses(uses[name] ?? [:], sweep)
        }
        if let store {
            let used = Set(state.repositories.flatMap { $0.blobs.values.compactMap(\.sharedHash) })
            state.unusedPayloads = try store.payloads().filter { !used.contains($0.name) }
        }
        return state
    }

    /// One repository, read from the disk.
    func repository(_ folder: RepositoryFolder, _ repository: Repository) throws(AIError) -> CachedRepository? {
        let candidate = ScanCandidate(folder: folder, repository: repository, hasForeignName: false, isLink: false)
        return try read([candidate], detailed: false).first?.repository
    }

    // MARK: The cache's root

    func candidates() throws(AIError) -> (found: [ScanCandidate], foreign: [CacheProblem]) {
        var found: [ScanCandidate] = []
        var foreign: [CacheProblem] = []
        guard let root = try OpenFolder.open(layout.root) else { return ([], []) }
        for entry in try root.entries() {
            let (name, path) = (entry.name, Path.join(layout.root, entry.name))
            if Self.knownNames.contains(name) || (name == "blobs" && store != nil) { continue }
            var kind = entry.kind
            if kind == nil { kind = try root.status(of: entry)?.kind }
            // A repository moved to another disk is a link.
            let target = kind == .symlink ? try root.target(name) : nil
            let isLink = target?.kind == .directory
            let known = Repository(folderName: name)
            if entry.isText, kind == .directory || isLink,
                let repository = known ?? Repository(foreignFolderName: name)
            {
                found.append(
                    ScanCandidate(
                        folder: RepositoryFolder(cache: layout, name: name), repository: repository,
                        hasForeignName: known == nil, isLink: isLink))
            } else if kind != nil, !(name.hasPrefix("tmp") && kind == .directory) {
                foreign.append(CacheProblem(entry.isText ? .stranger : .bytes, path))
            }
        }
        return (found, foreign)
    }

    // MARK: Stored and fresh results

    /// The result for one candidate.
    struct Finding {
        var overview: RepositoryOverview
        /// nil if stored in the catalog and not requested yet.
        var repository: CachedRepository?
    }

    /// The result for each candidate, in order: from the catalog if unchanged, else from the disk.
    ///
    /// - Parameter detailed: whether to store full details in the catalog.
    func findings(_ candidates: [ScanCandidate], fresh: Bool, detailed: Bool) throws(AIError) -> [Finding] {
        var findings: [Finding?] = candidates.map { _ in nil }
        let gone = fresh ? [] : try recall(&findings, candidates)
        try forgetLackingTrees(&findings)
        var scans: [RememberedScan] = []
        try fill(&findings, candidates, detailed: detailed, &scans)
        try forgetChangedLinks(&findings)
        try fill(&findings, candidates, detailed: detailed, &scans)
        if !fresh, let catalog, !scans.isEmpty || !gone.isEmpty {
            try catalog.remember(scans: scans, gone: gone, ofCache: layout.root)
        }
        return findings.map { $0! }
    }

    /// Loads unchanged results from the catalog; returns folders that no longer exist.
    private func recall(_ findings: inout [Finding?], _ candidates: [ScanCandidate]) throws(AIError) -> [String] {
        guard let catalog else { return [] }
        let places = Dictionary(candidates.enumerated().map { ($1.folder.name, $0) }) { $1 }
        var gone: [String] = []
        var summaries: [(place: Int, bytes: [UInt8])] = []
        try catalog.scans(ofCache: layout.root) { folder, summary in
            guard let place = places[folder] else { return gone.append(folder) }
            summaries.append((place, Array(summary)))
        }
        let known = summaries
        let overviews = try Self.concurrently(known.count) { range throws(AIError) -> [RepositoryOverview?] in
            guard let root = try OpenFolder.open(layout.root) else { return range.map { _ in nil } }
            return range.map { index in
                var overview = ScanSummary.current(known[index].bytes, candidates[known[index].place], in: root)
                overview?.look(in: root)
                return overview
            }
        }
        for (summary, overview) in zip(known, overviews) {
            findings[summary.place] = overview.map { Finding(overview: $0) }
        }
        return gone
    }

    /// Runs work dominated by system calls on all processors; returns the results in order.
    private static func concurrently<Value: Sendable>(
        _ count: Int, chunk: Int = 32, _ body: @Sendable (Range<Int>) throws(AIError) -> [Value]
    ) throws(AIError) -> [Value] {
        guard count > chunk else { return try body(0..<count) }
        let results = Lock<[Int: Result<[Value], AIError>]>([:])
        let chunks = (count + chunk - 1) / chunk
        Parallel.perform(chunks) { number in
            let range = number * chunk..<min((number + 1) * chunk, count)
            let result = Result { () throws(AIError) in try body(range) }
            results.withLock { $0[number] = result }
        }
        let all = results.withLock { $0 }
        var out: [Value] = []
        out.reserveCapacity(count)
        for number in 0..<chunks { out += try all[number]!.get() }
        return out
    }

    /// Adds the details, from the catalog if stored.
    func addRepositories(
        to findings: inout [Finding], _ candidates: [ScanCandidate], where isNeeded: (RepositoryOverview) -> Bool
    ) throws(AIError) {
        let indices = findings.indices.filter { findings[$0].repository == nil && isNeeded(findings[$0].overview) }
        guard !indices.isEmpty else { return }
        let details = try catalog?.scanDetails(ofCache: layout.root) ?? [:]
        for index in indices {
            let candidate = candidates[index]
            findings[index].repository = details[candidate.folder.name].flatMap { ScanDetails.read($0, candidate) }
        }
        // Not stored or invalid: read from the disk.
        let missing = indices.filter { findings[$0].repository == nil }
        let readings = try read(missing.map { candidates[$0] }, detailed: true)
        for (index, reading) in zip(missing, readings) { findings[index].repository = reading.repository }
        if !readings.isEmpty { try catalog?.remember(scans: readings.map(\.scan), gone: [], ofCache: layout.root) }
    }

    /// Reads the missing results.
    private func fill(
        _ findings: inout [Finding?], _ candidates: [ScanCandidate], detailed: Bool, _ scans: inout [RememberedScan]
    ) throws(AIError) {
        let missing = findings.indices.filter { findings[$0] == nil }
        for (index, reading) in zip(missing, try read(missing.map { candidates[$0] }, detailed: detailed)) {
            findings[index] = Finding(overview: reading.overview, repository: reading.repository)
            scans.append(reading.scan)
        }
    }

    /// Drops results without completeness whose tree is known now.
    private func forgetLackingTrees(_ findings: inout [Finding?]) throws(AIError) {
        var trees: Set<String>?
        for index in findings.indices {
            guard let overview = findings[index]?.overview, overview.isReadable else { continue }
            for revision in overview.revisions where revision.isComplete == nil {
                if trees == nil { trees = try catalog?.knownTrees() ?? [] }
                if trees!.contains(Catalog.treeName(overview.repository, revision.commit)) { findings[index] = nil }
            }
        }
    }

    /// Drops results affected by hard links made or removed in another repository, which change a file's link count but
    /// no folder of this one. If the count differs from the names in this cache, it is checked again.
    private func forgetChangedLinks(_ findings: inout [Finding?]) throws(AIError) {
        var names: [PhysicalFile.Identity: UInt64] = [:]
        for finding in findings {
            for file in finding!.overview.shared where !file.isOutside {
                names[file.file.identity, default: 0] &+= file.names
            }
        }
        let missing = findings.flatMap { finding in
            finding!.overview.shared.filter { !$0.isOutside && names[$0.file.identity] != $0.file.links }
        }
        guard !missing.isEmpty else { return }
        let identities = Set(missing.map(\.file.identity))
        for index in findings.indices where findings[index]?.repository == nil {
            let overview = findings[index]!.overview
            let hasChanged = overview.shared.contains { file in
                guard !file.isOutside, identities.contains(file.file.identity) else { return false }
                let status = (try? FileSystem.linkStatus(Path.join(layout.root, file.path))) ?? nil
                return status?.links != file.file.links
            }
            // A repository read before the other name existed does not know it.
            if hasChanged || overview.own.contains(where: { identities.contains($0) }) { findings[index] = nil }
        }
    }

    // MARK: Reading the disk

    /// A folder changed so shortly before it was read could change again within the same tick of the file system's
    /// clock; it is read once more next time.
    private static let settlingNanoseconds: Int64 = 100_000_000

    /// The contents of one repository's folder.
    struct Reading: Sendable {
        var repository: CachedRepository
        var overview: RepositoryOverview
        var scan: RememberedScan
    }

    private func read(_ candidates: [ScanCandidate], detailed: Bool) throws(AIError) -> [Reading] {
        let record = try catalog.map { catalog throws(AIError) in try CacheRecord(layout, in: catalog).key() }
        return try Self.concurrently(candidates.count, chunk: 8) { range throws(AIError) in
            var readings: [Reading] = []
            for index in range { readings.append(try read(candidates[index], record, detailed: detailed)) }
            return readings
        }
    }

    /// - Parameter record: the key of the cache's records.
    private func read(_ candidate: ScanCandidate, _ record: String?, detailed: Bool) throws(AIError) -> Reading {
        let now = Timestamp.nowNanoseconds
        var scanner = RepositoryScanner(
            candidate, store: store
        ) { [catalog] commit throws(AIError) in
            try catalog?.tree(of: candidate.repository, at: commit)
        } choice: { [catalog] commit throws(AIError) in
            guard let catalog, let record else { return nil }
            return try catalog.choice(of: commit, folder: candidate.folder.name, cache: record)?.choice
        }
        let repository = try scanner.scan()
        let watched = scanner.watched.map { path in
            WatchedPath(
                path: path.path, modified: now - path.modified < Self.settlingNanoseconds ? -1 : path.modified)
        }
        let overview = RepositoryOverview(repository)
        return Reading(
            repository: repository, overview: overview,
            scan: RememberedScan(
                folder: candidate.folder.name, summary: ScanSummary.write(overview, watched),
                details: detailed || overview.usesStore ? ScanDetails.write(repository) : nil))
    }

    // MARK: Use

    /// The access time of each revision's largest file. One stat per revision: loading a model reads its largest file.
    private func addTimes(to repository: inout CachedRepository) {
        let folder = repository.folder
        for index in repository.revisions.indices {
            if let file = repository.largestFile(of: repository.revisions[index]),
                let status = try? FileSystem.status(Path.join(layout.root, file))
            {
                repository.revisions[index].lastUsedAt = max(
                    repository.revisions[index].lastUsedAt, status.accessed)
            }
        }
        // A partial grows without its folder changing.
        for index in repository.partials.indices {
            let status = try? FileSystem.linkStatus(folder.blob(repository.partials[index].name))
            if let status { repository.partials[index].file = PhysicalFile(status) }
        }
    }
}

extension CachedRepository {
    /// Adds the uses recorded by `hub`, by commit.
    fileprivate mutating func addUses(_ noted: [String: Double], _ sweep: AccessSweep) {
        for index in revisions.indices {
            guard let time = noted[revisions[index].commit.hash] else { continue }
            revisions[index].isUseNoted = true
            revisions[index].lastUsedAt =
                sweep.lastUse(accessed: revisions[index].lastUsedAt, noted: time) ?? time
        }
    }
}
