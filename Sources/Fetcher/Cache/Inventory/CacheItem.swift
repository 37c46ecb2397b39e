package import HubCore

/// One thing of the cache that can be chosen for deletion by itself.
package struct CacheItem: Sendable, Hashable {
    /// What it is; repositories and revisions by their place in the state.
    package enum Subject: Sendable, Hashable {
        case revision(repository: Int, index: Int)
        /// What is left of a repository without revisions and partials.
        case remains(repository: Int)
        /// Unfinished downloads of a repository.
        case partials(repository: Int, names: [String])
        /// Blobs of a repository that no snapshot links to.
        case orphans(repository: Int, names: [String])
        /// Payloads of the shared store that no repository links to.
        case payloads(names: [String])
        /// What the client for Xet storage keeps.
        case xet
    }

    package var subject: Subject
    /// nil for what belongs to none.
    package var repository: Repository?
    package var commit: Commit?
    package var refs: [String] = []
    /// st_size of its files, each physical file once.
    package var size: Int64
    /// Bytes that go with it while everything else stays.
    package var freedAlone: Int64 = 0
    /// Seconds since 1970.
    package var lastUsedAt: Double?
    /// Seconds since 1970.
    package var downloadedAt: Double?
    package var isPinned = false
    package var isIncomplete = false
    /// Whether it is a revision that no branch or tag names.
    package var isDetached = false
    /// Whether links in it lead to nothing.
    package var isDamaged = false
    /// Why it cannot go now, such as "in use: …"; nil where it can. A pin is no such reason: it can be taken away.
    package var obstacle: String?
}

extension CacheItem {
    init(
        revision index: Int, of repository: CachedRepository, at place: Int, pins: Set<PinnedRevision>,
        held: Set<String>
    ) {
        let revision = repository.revisions[index]
        self.init(
            subject: .revision(repository: place, index: index), repository: repository.repository,
            commit: revision.commit, refs: revision.refs,
            size: repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size },
            lastUsedAt: revision.lastUsedAt, downloadedAt: revision.downloadedAt,
            isPinned: pins.contains(PinnedRevision(folder: repository.folder.name, commit: revision.commit)),
            isIncomplete: revision.isComplete == false, isDetached: revision.refs.isEmpty,
            isDamaged: revision.files.contains(where: \.isBroken))
        // The last revision takes everything along that is in the repository.
        let isOnly = repository.revisions.count == 1
        let writing = held.filter { etag in
            isOnly
                ? repository.blobs[etag] != nil
                    || repository.partials.contains { DeletionPlanner.etag(ofPartial: $0.name) == etag }
                : revision.files.contains { $0.blob == etag }
        }
        obstacle = writing.min().map { "in use: another process is writing \($0.prefix(12))" }
    }

    init(payloads: [CachedBlob]) {
        self.init(
            subject: .payloads(names: payloads.map(\.name)),
            size: payloads.reduce(0) { $0 + ($1.file?.size ?? 0) },
            lastUsedAt: payloads.compactMap { $0.file?.accessed }.max())
    }

    /// What a repository holds beside its revisions, with the names in `blobs/` that go with it.
    static func leftovers(
        of repository: CachedRepository, at place: Int, foreign: Set<String>, held: Set<String>, now: Double
    ) -> [(item: CacheItem, names: [String])] {
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
            item.obstacle = names.first(where: held.contains).map {
                "in use: another process is writing \($0.prefix(12))"
            }
            add(item, names)
            return out
        }
        let going = partials(of: repository, held: held, now: now)
        if !repository.partials.isEmpty {
            add(
                CacheItem(
                    subject: .partials(repository: place, names: going.isEmpty ? repository.partials.map(\.name) : going),
                    size: size(repository.partials),
                    lastUsedAt: repository.partials.compactMap { $0.file?.modified }.max(),
                    obstacle: going.isEmpty ? "in use: a program may still be downloading it" : nil), going)
        }
        let orphans = repository.orphans.filter { !foreign.contains($0.name) }
        let free = orphans.filter { !held.contains($0.name) }
        if !orphans.isEmpty {
            add(
                CacheItem(
                    subject: .orphans(repository: place, names: (free.isEmpty ? orphans : free).map(\.name)),
                    size: size(orphans), lastUsedAt: orphans.compactMap { $0.file?.accessed }.max(),
                    obstacle: free.isEmpty ? "in use: another process is about to link it" : nil),
                free.map(\.name))
        }
        return out
    }

    /// The partials that may go now, by the rule of ``DeletionPlanner/addPartials(of:now:)``.
    private static func partials(of repository: CachedRepository, held: Set<String>, now: Double) -> [String] {
        Dictionary(grouping: repository.partials) { DeletionPlanner.etag(ofPartial: $0.name) }
            .filter { etag, partials in
                let newest = partials.compactMap { $0.file?.modified }.max() ?? 0
                let isOurs = partials.allSatisfy { $0.name.contains(".hub.") }
                return !held.contains(etag) && (isOurs || now - newest >= 3600)
            }
            .flatMap { $0.value.map(\.name) }.sorted()
    }

    private static func size(_ blobs: [CachedBlob]) -> Int64 {
        var seen: Set<PhysicalFile.Identity> = []
        return blobs.filter { !$0.isForeign }.compactMap(\.file).reduce(0) {
            seen.insert($1.identity).inserted ? $0 + $1.size : $0
        }
    }
}
