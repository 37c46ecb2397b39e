package import HubCore

/// The health of a cache, read fresh from the disk. Changes nothing; see ``CacheFix``.
package struct CacheDiagnosis: Sendable {
    /// One kind of problem.
    package struct Finding: Sendable {
        package enum Kind: String, Sendable, Hashable, CaseIterable {
            case unreadable
            case brokenLinks = "broken_links"
            case danglingRefs = "dangling_refs"
            case refsWithSpace = "refs_with_line_end"
            case refsWithoutCommit = "refs_without_commit"
            case damagedNames = "damaged_names"
            case misplaced = "misplaced_entries"
            case unwritable = "unwritable_folders"
            case ofOthers = "files_of_others"
            case worldWritable = "world_writable"
            case withheld = "withheld_from_group"
            case orphans = "orphan_blobs"
            case unusedPayloads = "unused_payloads"
            case detached = "detached_revisions"
            case unfinished = "unfinished_downloads"
            case stalePartials = "stale_partials"
            case lonelyPartials = "partials_without_map"
            case linkedFolders = "linked_folders"
            case foreignNames = "foreign_names"
            case strangers = "strangers"
            case plainFiles = "files_without_links"
            case missing = "no_exist"
            case trees = "trees_of_gone_revisions"
            case temporaries = "temporary_names"
            case probes = "leftover_probe"
            case locks = "locks_left"
            case xet = "xet_folder"
            case noAccessTimes = "no_access_times"
            case network = "network_file_system"
        }

        package var kind: Kind
        /// The first of them, at most ``CacheDiagnosis/mostPaths``.
        package var paths: [String]
        /// The total number.
        package var count: Int
        /// Their total size in bytes.
        package var bytes: Int64
        /// Further details, such as the owner.
        package var detail: String?
        /// The fix that loses no data.
        package var fix: CacheFix?
        /// Whether the fix covers all of them.
        package var fixesAll = true
    }

    package static let mostPaths = 20
    package private(set) var findings: [Finding] = []
    /// The scan it is based on.
    package let state: CacheState

    /// - Parameters:
    ///   - xet: the Xet folder, if it belongs to the cache.
    ///   - now: files changed within the hour before may be in use.
    package init(_ layout: CacheLayout, xet: XetFolder?, now: Double) throws(AIError) {
        state = try CacheScanner(layout, catalog: nil).scan(fresh: true)
        let walk = CacheWalk(layout)
        addProblems(walk)
        addRefs(now: now)
        addUnneeded()
        addPartials(now: now)
        addLeftovers(walk, now: now)
        addPlace(walk)
        if let xet { add(xet, now: now) }
        let order = Finding.Kind.allCases
        findings.sort { order.firstIndex(of: $0.kind)! < order.firstIndex(of: $1.kind)! }
    }

    private mutating func add(
        _ kind: Finding.Kind, _ paths: [String], bytes: Int64 = 0, detail: String? = nil, fix: CacheFix? = nil
    ) {
        guard !paths.isEmpty else { return }
        findings.append(
            Finding(
                kind: kind, paths: Array(paths.prefix(Self.mostPaths)), count: paths.count, bytes: bytes,
                detail: detail, fix: fix))
    }

    private mutating func add(_ kind: Finding.Kind, _ items: [CacheWalk.Item], fix: CacheFix? = nil) {
        add(kind, items.map(\.path), bytes: items.reduce(0) { $0 + $1.bytes }, fix: fix)
    }

    // MARK: Problems

    private mutating func addProblems(_ walk: CacheWalk) {
        let problems = state.foreign + state.repositories.flatMap(\.problems)
        func paths(_ kinds: CacheProblem.Kind...) -> [String] {
            problems.filter { kinds.contains($0.kind) }.map(\.path)
        }
        var unreadable: [String] = []
        for problem in problems.filter({ $0.kind == .unreadable }) + walk.unreadable
        where !unreadable.contains(problem.path) { unreadable.append(problem.path) }
        add(.unreadable, unreadable)
        add(.brokenLinks, paths(.brokenLink))
        add(.refsWithoutCommit, paths(.refWithoutCommit))
        add(.damagedNames, paths(.bytes))
        add(.misplaced, paths(.noSnapshot, .noBlob, .noFile))
        add(.linkedFolders, paths(.elsewhere))
        add(.foreignNames, paths(.name))
        add(.strangers, paths(.stranger))
    }

    private mutating func addRefs(now: Double) {
        var (spaced, dangling): ([CacheFix.Ref], [CacheFix.Ref]) = ([], [])
        for repository in state.repositories {
            let folder = repository.folder
            // A link's target is outside this cache, or may be unmounted.
            guard !repository.isElsewhere else { continue }
            for problem in repository.problems where problem.kind == .refWithSpace {
                if let name = problem.path.dropping(prefix: folder.refs + "/") {
                    spaced.append(.init(folder: folder, name: name))
                }
            }
            // Refs without a commit have their own finding; if something was unreadable, a snapshot may exist.
            guard repository.isReadable else { continue }
            for name in repository.danglingRefs where (try? folder.commit(ofRef: name)) ?? nil != nil {
                dangling.append(.init(folder: folder, name: name))
            }
        }
        add(.refsWithSpace, spaced.map(\.path), fix: .rewriteRefs(spaced))
        // Python writes the ref before it downloads.
        let old = dangling.filter { ref in
            let status = (try? FileSystem.linkStatus(ref.path)) ?? nil
            return status.map { now - $0.modified >= CacheFix.rest } ?? false
        }
        add(.danglingRefs, dangling.map(\.path), fix: old.isEmpty ? nil : .removeDanglingRefs(old))
        if old.count < dangling.count { findings[findings.count - 1].fixesAll = false }
    }

    // MARK: Unneeded files

    private mutating func addUnneeded() {
        var ledger = DeletionLedger(state)
        var (orphans, detached, plain): ([String], [String], [String]) = ([], [], [])
        var unfinished: [String] = []
        var (orphanBytes, detachedBytes, plainBytes): (Int64, Int64, Int64) = (0, 0, 0)
        var seen = Set(state.repositories.flatMap { $0.physicalFiles.keys })
        for repository in state.repositories {
            for orphan in repository.orphans {
                orphans.append(repository.folder.blob(orphan.name))
                if let file = orphan.file, !orphan.isForeign, seen.insert(file.identity).inserted {
                    orphanBytes += file.size
                }
            }
            if repository.isUnfinishedFirstDownload { unfinished.append(repository.folder.path) }
            let revisions = repository.isUnfinishedFirstDownload ? [] : repository.revisions.filter(\.refs.isEmpty)
            detached += revisions.map { repository.folder.snapshot($0.commit) }
            if !revisions.isEmpty { detachedBytes += ledger.freedBytes(revisions, of: repository) }
            for revision in repository.revisions {
                for file in revision.files {
                    guard let physical = file.file else { continue }
                    plain.append(Path.join(repository.folder.snapshot(revision.commit), file.path))
                    plainBytes += physical.size
                }
            }
        }
        add(.orphans, orphans, bytes: orphanBytes)
        add(.detached, detached, bytes: detachedBytes)
        add(.unfinished, unfinished)
        add(.plainFiles, plain, bytes: plainBytes)
        let store = SharedStore(layout: state.layout)
        add(
            .unusedPayloads, state.unusedPayloads.map { store.payload($0.name) },
            bytes: state.unusedPayloads.reduce(0) { $0 + ($1.file?.size ?? 0) })
    }

    private mutating func addPartials(now: Double) {
        var byOwner: [PartialOwner: (count: Int, bytes: Int64)] = [:]
        var stale: [String] = []
        var (lonely, lonelyBytes): ([CacheFix.Partial], Int64) = ([], 0)
        for repository in state.repositories {
            let names = Set(repository.partials.map(\.name))
            for partial in repository.partials {
                guard let file = partial.file, now - file.modified >= CacheFix.rest else { continue }
                let owner = PartialOwner(partial.name)
                stale.append(repository.folder.blob(partial.name))
                byOwner[owner, default: (0, 0)].count += 1
                byOwner[owner, default: (0, 0)].bytes += file.size
                let stem = partial.name.dropSuffix(".hub.incomplete")
                if let stem, !repository.isElsewhere, !names.contains(stem + ".hub.map.incomplete") {
                    lonely.append(.init(folder: repository.folder, name: partial.name))
                    lonelyBytes += file.size
                }
            }
        }
        let owners = PartialOwner.allCases.compactMap { owner in
            byOwner[owner].map { "\($0.count) of \(owner.rawValue) (\(ByteCount($0.bytes)))" }
        }
        add(
            .stalePartials, stale, bytes: byOwner.values.reduce(0) { $0 + $1.bytes },
            detail: owners.joined(separator: ", "))
        add(
            .lonelyPartials, lonely.map { $0.folder.blob($0.name) }, bytes: lonelyBytes,
            fix: .removePartials(lonely))
    }

    // MARK: Leftovers and the cache's location

    private mutating func addLeftovers(_ walk: CacheWalk, now: Double) {
        add(.missing, walk.missing)
        let trees = walk.trees.filter { now - $0.modified >= CacheFix.rest }
        add(.trees, trees, fix: .removeTrees(state.layout, trees.map(\.path)))
        add(.temporaries, walk.temporaries.filter { now - $0.modified >= CacheFix.rest })
        let probes = walk.probes.filter { now - $0.modified >= CacheFix.rest }
        add(.probes, probes, fix: .removeFiles(state.layout, probes.map(\.path)))
        add(.locks, walk.locks)
    }

    private mutating func addPlace(_ walk: CacheWalk) {
        add(.ofOthers, walk.ofOthers)
        add(.unwritable, walk.unwritable)
        add(.worldWritable, walk.worldWritable)
        add(.withheld, walk.withheld, fix: .giveToGroup(state.layout, walk.withheld.map(\.path)))
        let root = state.layout.root
        if !state.keepsAccessTimes { add(.noAccessTimes, [root]) }
        if FileSystem.isOnNetwork(root) { add(.network, [root]) }
    }

    private mutating func add(_ xet: XetFolder, now: Double) {
        let contents = xet.contents()
        guard contents.files > 0 else { return }
        findings.append(
            Finding(
                kind: .xet, paths: [xet.path], count: contents.files, bytes: contents.bytes, detail: nil,
                fix: xet.isIdle(contents, now: now) ? .sweepXet(xet) : nil))
    }
}

extension String {
    /// The text without a suffix; nil if it has another.
    fileprivate func dropSuffix(_ suffix: String) -> String? {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
    }
}
