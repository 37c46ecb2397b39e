import Catalog
package import HubCore

/// The data of a cache folder for lists.
package struct CacheOverview: Sendable {
    package var layout: CacheLayout
    package var repositories: [RepositoryOverview]
    /// Entries of the cache's root that no Hugging Face library uses.
    package var foreign: [CacheProblem]
    /// Whether the file system records when a file is read. If not, only uses recorded by `hub` are known.
    package var keepsAccessTimes: Bool
    /// Bytes of the files that snapshots need, each physical file once over all repositories.
    package var totalSize: Int64 = 0
    /// Bytes of unfinished downloads, of every client.
    package var partialSize: Int64 = 0
    /// Unneeded bytes, each physical file once: orphans and payloads of the shared store.
    package var otherSize: Int64 = 0

    /// Bytes of everything, with what Xet transfers keep: what lists call the size of the cache.
    package func size(with xet: XetFolder.Contents) -> Int64 { totalSize + partialSize + otherSize + xet.bytes }

    /// Whether files may have names or blocks that something outside their repository needs.
    package var sharesFiles: Bool {
        FileSystem.mayShareBlocks(layout.root) || repositories.contains { !$0.shared.isEmpty }
    }

    /// The problems, for people.
    package var remarks: [String] { (foreign + repositories.flatMap(\.problems)).map(\.text) }
}

extension CacheScanner {
    /// The sums over the cache; only changed parts are read from the disk. An absent folder is an empty cache.
    package func overview() throws(AIError) -> CacheOverview {
        let uses = try catalog.map { catalog throws(AIError) in try CacheRecord(layout, in: catalog).uses() } ?? [:]
        let (candidates, foreign) = try candidates()
        var findings = try findings(candidates, fresh: false, detailed: false)
        try addStore(to: &findings, candidates)
        var overview = CacheOverview(
            layout: layout, repositories: findings.map(\.overview), foreign: foreign,
            keepsAccessTimes: FileSystem.keepsAccessTimes(layout.root))
        let sweep = AccessSweep(overview.repositories.compactMap { $0.revisions.compactMap(\.lastUsedAt).max() })
        for index in overview.repositories.indices {
            let name = overview.repositories[index].folder.name
            overview.repositories[index].addUse(
                uses[name] ?? [:], sweep, keepsAccessTimes: overview.keepsAccessTimes)
        }
        try addSums(to: &overview, findings)
        return overview
    }

    /// Computes what deleting repositories frees whose files others may share: in the shared store, or their blocks.
    private func addStore(to findings: inout [Finding], _ candidates: [ScanCandidate]) throws(AIError) {
        let isAll = FileSystem.mayShareBlocks(layout.root)
        let indices = findings.indices.filter { isAll || findings[$0].overview.usesStore }
        guard !indices.isEmpty else { return }
        try addRepositories(to: &findings, candidates) { isAll || $0.usesStore }
        let blocks = SharedBlocks(findings.compactMap(\.repository), payloads: [], in: layout)
        var ledger = DeletionLedger(layout, blocks)
        for index in indices {
            // They have grown since the stored scan.
            findings[index].repository!.partials = findings[index].overview.partials
            findings[index].overview.setFreeable(of: findings[index].repository!, &ledger)
        }
    }

    private func addSums(to overview: inout CacheOverview, _ findings: [Finding]) throws(AIError) {
        var (needed, others): (Set<PhysicalFile.Identity>, Set<PhysicalFile.Identity>) = ([], [])
        if overview.repositories.contains(where: \.isLink) {
            needed.formUnion(overview.repositories.flatMap(\.own))
        }
        for repository in overview.repositories {
            overview.totalSize += repository.size
            overview.otherSize += repository.orphanSize
            // Counted with its repository; further ones are subtracted again.
            for file in repository.shared where file.isNeeded && !needed.insert(file.file.identity).inserted {
                overview.totalSize -= file.file.size
            }
        }
        for file in overview.repositories.flatMap(\.partials).compactMap(\.file)
        where !needed.contains(file.identity) {
            if others.insert(file.identity).inserted { overview.partialSize += file.size }
        }
        for repository in overview.repositories where repository.isReadable && !repository.isLink {
            for file in repository.shared where !file.isNeeded && file.place != .outside {
                if !needed.contains(file.file.identity), others.insert(file.file.identity).inserted {
                    overview.otherSize += file.file.size
                }
            }
        }
        guard let store else { return }
        let used = Set(findings.flatMap { $0.repository?.blobs.values.compactMap(\.sharedHash) ?? [] })
        for payload in try store.payloads() where !used.contains(payload.name) {
            guard let file = payload.file, !needed.contains(file.identity) else { continue }
            if others.insert(file.identity).inserted { overview.otherSize += file.size }
        }
    }
}

extension RepositoryOverview {
    /// Reads what changes without changing any folder: access times and sizes of partials.
    ///
    /// - Parameter root: the cache's folder.
    mutating func look(in root: OpenFolder) {
        for index in revisions.indices {
            guard let file = revisions[index].largestFile, let status = (try? root.target(file)) ?? nil else {
                continue
            }
            revisions[index].lastUsedAt = max(revisions[index].lastUsedAt ?? 0, status.accessed)
        }
        for index in partials.indices {
            let status = (try? root.target("\(folder.name)/blobs/\(partials[index].name)")) ?? nil
            guard let status else { continue }
            let old = partials[index].file?.links == 1 ? partials[index].file?.size ?? 0 : 0
            partials[index].file = PhysicalFile(status)
            // Partials go with the whole repository only.
            guard isDeletable, !problems.contains(where: { $0.kind == .noSnapshot }) else { continue }
            freeable += (status.links == 1 ? partials[index].file!.size : 0) - old
            for revision in revisions.indices where revisions.count == 1 { revisions[revision].freeable = freeable }
        }
    }

    /// Adds the uses recorded by `hub`, by commit.
    fileprivate mutating func addUse(_ noted: [String: Double], _ sweep: AccessSweep, keepsAccessTimes: Bool) {
        for index in revisions.indices {
            revisions[index].lastUsedAt = sweep.lastUse(
                accessed: keepsAccessTimes ? revisions[index].lastUsedAt : nil,
                noted: noted[revisions[index].commit.hash])
        }
    }
}
