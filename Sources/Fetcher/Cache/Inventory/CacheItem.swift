import Catalog
package import HubCore

/// An item of the cache that can be selected for deletion.
package struct CacheItem: Sendable, Hashable {
    /// The kind of item; repositories and revisions by index in the state.
    package enum Subject: Sendable, Hashable {
        case revision(repository: Int, index: Int)
        /// The rest of a repository without revisions and partials.
        case remains(repository: Int)
        /// Unfinished downloads of a repository.
        case partials(repository: Int, names: [String])
        /// Blobs of a repository that no snapshot links to.
        case orphans(repository: Int, names: [String])
        /// Payloads of the shared store that no repository links to.
        case payloads(names: [String])
        /// The Xet client's files.
        case xet
    }

    package var subject: Subject
    /// nil if it belongs to none.
    package var repository: Repository?
    package var commit: Commit?
    package var refs: [String] = []
    /// st_size of its files, each physical file once.
    package var size: Int64
    /// Bytes freed by deleting only this item.
    package var freedAlone: Int64 = 0
    /// Seconds since 1970.
    package var lastUsedAt: Double?
    /// Seconds since 1970.
    package var downloadedAt: Double?
    package var isPinned = false
    /// The pin's note.
    package var pinNote: String?
    package var isIncomplete = false
    /// Whether it is a revision without a branch or tag.
    package var isDetached = false
    /// Whether it has broken links, files of the wrong size, or damage found by verification.
    package var isDamaged = false
    /// Why it cannot be deleted now, such as "in use: …"; nil if it can. Pins do not count, because they can be
    /// removed.
    package var obstacle: String?
}

extension CacheItem {
    /// - Parameter foreign: blobs needed by something other than snapshots; nil if there is nothing like that.
    init(
        revision index: Int, of repository: CachedRepository, at place: Int, foreign: Set<String>?,
        _ verified: VerifiedContent, _ obstacles: inout DeletionObstacles
    ) throws(AIError) {
        let revision = repository.revisions[index]
        let pin = obstacles.protection.pin(repository.folder, revision.commit)
        self.init(
            subject: .revision(repository: place, index: index), repository: repository.repository,
            commit: revision.commit, refs: revision.refs,
            size: repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size },
            lastUsedAt: revision.lastUsedAt, downloadedAt: revision.downloadedAt, isPinned: pin != nil,
            pinNote: pin?.note, isIncomplete: revision.isComplete == false, isDetached: revision.refs.isEmpty)
        // For a complete revision the sizes need no check, which would read the tree.
        isDamaged =
            try isIncomplete
            ? repository.damage(of: revision, verified) != nil
            : revision.knownDamage(verified, in: repository.folder) != nil
        // The last revision takes the whole repository with it.
        let isOnly = repository.revisions.count == 1 && foreign == nil
        let others = repository.revisions.indices.filter { $0 != index }
        let needed = others.reduce(foreign ?? []) { $0.union(repository.revisions[$1].usedBlobs) }
        let names = isOnly ? Set(repository.blobs.keys) : revision.usedBlobs.subtracting(needed)
        obstacle = repository.obstacle(to: revision)
        if obstacle == nil {
            obstacle = try obstacles.findUse(
                of: revision, of: repository, blobs: names, partials: isOnly ? repository.partials : [])
        }
    }

    init(payloads: [CachedBlob]) {
        self.init(
            subject: .payloads(names: payloads.map(\.name)),
            size: payloads.reduce(0) { $0 + ($1.file?.size ?? 0) },
            lastUsedAt: payloads.compactMap { $0.file?.accessed }.max())
    }

    /// The items of a repository besides its revisions, with their names in `blobs/`.
    static func leftovers(
        of repository: CachedRepository, at place: Int, foreign: Set<String>?, now: Double,
        _ obstacles: inout DeletionObstacles
    ) throws(AIError) -> [(item: CacheItem, names: [String])] {
        var out: [(CacheItem, [String])] = []
        func add(_ item: CacheItem, _ names: [String]) {
            var item = item
            item.repository = repository.repository
            out.append((item, names))
        }
        if repository.revisions.isEmpty, repository.partials.isEmpty {
            let names = repository.blobs.keys.sorted()
            var item = CacheItem(subject: .remains(repository: place), size: size(repository.orphans))
            item.refs = repository.danglingRefs
            item.obstacle =
                repository.obstacle
                ?? (foreign == nil ? nil : "its snapshots folder holds something that is not a snapshot")
            if item.obstacle == nil {
                item.obstacle = try obstacles.find(repository, blobs: Set(names), partials: [])
            }
            add(item, names)
            return out
        }
        if !repository.partials.isEmpty {
            let (going, why) = try partials(of: repository, now: now, &obstacles)
            let names = going.isEmpty ? repository.partials.map(\.name) : going
            add(
                CacheItem(
                    subject: .partials(repository: place, names: names), size: size(repository.partials),
                    lastUsedAt: repository.partials.compactMap { $0.file?.modified }.max(),
                    obstacle: going.isEmpty ? why : nil), going)
        }
        let orphans = repository.orphans.filter { foreign?.contains($0.name) != true }
        if !orphans.isEmpty {
            var (going, why): ([CachedBlob], String?) = ([], repository.obstacle)
            for blob in orphans where repository.obstacle == nil {
                if let reason = try obstacles.find(orphan: blob, in: repository.folder) {
                    why = reason
                } else {
                    going.append(blob)
                }
            }
            add(
                CacheItem(
                    subject: .orphans(repository: place, names: (going.isEmpty ? orphans : going).map(\.name)),
                    size: size(orphans), lastUsedAt: orphans.compactMap { $0.file?.accessed }.max(),
                    obstacle: going.isEmpty ? why : nil), going.map(\.name))
        }
        return out
    }

    /// The partials that may be deleted now, and why others may not.
    private static func partials(
        of repository: CachedRepository, now: Double, _ obstacles: inout DeletionObstacles
    ) throws(AIError) -> (going: [String], why: String?) {
        var (going, why): ([String], String?) = ([], nil)
        let groups = Dictionary(grouping: repository.partials) { RepositoryFolder.etag(ofPartial: $0.name) }
        for (etag, partials) in groups {
            if let reason = try obstacles.find(partials: partials, of: etag, in: repository.folder, now: now) {
                why = reason
            } else {
                going += partials.map(\.name)
            }
        }
        return (going.sorted(), why)
    }

    private static func size(_ blobs: [CachedBlob]) -> Int64 {
        var seen: Set<PhysicalFile.Identity> = []
        return blobs.filter { !$0.isForeign }.compactMap(\.file).reduce(0) {
            seen.insert($1.identity).inserted ? $0 + $1.size : $0
        }
    }
}
