import Catalog
package import HubCore

/// An item of the cache that can be selected for deletion.
package struct CacheItem: Sendable, Hashable {
    /// The kind of item.
    package enum Subject: Sendable, Hashable {
        /// By index in its repository.
        case revision(Int)
        /// The rest of a repository without revisions and partials.
        case remains
        /// Unfinished downloads of a repository.
        case partials([String])
        /// Blobs of a repository that no snapshot links to.
        case orphans([String])
        /// Payloads of the shared store that no repository links to.
        case payloads([String])
        /// The Xet client's files.
        case xet
    }

    package var subject: Subject
    /// The place of its repository in the state; nil if it belongs to none.
    package var place: Int?
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
    package var obstacle: Obstacle?
    /// What is deleted with it.
    package var choice = DeletionLedger.Choice()
}

extension CacheInventory {
    mutating func addRevisions(of index: Int, _ verified: VerifiedContent, _ obstacles: inout DeletionObstacles)
        throws(AIError)
    {
        let repository = state.repositories[index]
        for (number, revision) in repository.revisions.enumerated() {
            let pin = obstacles.protection.pin(repository.folder, revision.commit)
            let choice = try ledger.choice(revision.files, of: repository, isRevision: true)
            let change = ledger.preview(choice)
            // For a complete revision the sizes need no check, which would read the tree.
            let isDamaged =
                try revision.isComplete == false
                ? repository.damage(of: revision, verified) != nil
                : revision.knownDamage(verified, in: repository.folder) != nil
            items.append(
                CacheItem(
                    subject: .revision(number), place: index, repository: repository.repository,
                    commit: revision.commit, refs: revision.refs,
                    size: repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size },
                    freedAlone: change.freed.size, lastUsedAt: revision.lastUsedAt,
                    downloadedAt: revision.downloadedAt, isPinned: pin != nil, pinNote: pin?.note,
                    isIncomplete: revision.isComplete == false, isDetached: revision.refs.isEmpty,
                    isDamaged: isDamaged,
                    obstacle: try obstacles.find(revision, of: repository, change, ignoringPin: true),
                    choice: choice))
        }
    }

    /// Adds what a repository has besides its revisions.
    mutating func addLeftovers(of index: Int, _ obstacles: inout DeletionObstacles) throws(AIError) {
        let repository = state.repositories[index]
        if repository.revisions.isEmpty, repository.partials.isEmpty {
            let choice = try ledger.choice([], of: repository, isRevision: false)
            return append(
                CacheItem(
                    subject: .remains, place: index, repository: repository.repository,
                    refs: repository.danglingRefs, size: Self.size(repository.orphans.compactMap(\.ownFile)),
                    obstacle: try obstacles.find(restOf: repository, ledger.preview(choice))),
                choice)
        }
        try addEntries(repository.partialsByEtag, of: index, CacheItem.Subject.partials, \.modified, &obstacles)
        try addEntries(
            repository.freeOrphans().map { [$0] }, of: index, CacheItem.Subject.orphans, \.accessed, &obstacles)
    }

    /// Adds groups of entries of `blobs/` as one item, which stays only if each of them has an obstacle.
    private mutating func addEntries(
        _ groups: [[CachedBlob]], of index: Int, _ subject: ([String]) -> CacheItem.Subject,
        _ usedAt: KeyPath<PhysicalFile, Double>, _ obstacles: inout DeletionObstacles
    ) throws(AIError) {
        var (going, why): ([String], Obstacle?) = ([], nil)
        for group in groups {
            let obstacle = try obstacles.find(group, of: state.repositories[index])
            if obstacle == nil { going += group.map(\.name) }
            why = obstacle ?? why
        }
        let entries = groups.flatMap(\.self)
        guard !entries.isEmpty else { return }
        let names = (going.isEmpty ? entries.map(\.name) : going).sorted()
        append(
            CacheItem(
                subject: subject(names), place: index, repository: state.repositories[index].repository,
                size: Self.size(entries.compactMap(\.ownFile)),
                lastUsedAt: entries.compactMap { $0.file?[keyPath: usedAt] }.max(),
                obstacle: going.isEmpty ? why : nil),
            try ledger.choice(going, of: state.repositories[index]))
    }

    mutating func append(_ item: CacheItem, _ choice: DeletionLedger.Choice) {
        var item = item
        item.choice = choice
        item.freedAlone = ledger.preview(choice).freed.size
        items.append(item)
    }

    /// st_size, each physical file once.
    private static func size(_ files: [PhysicalFile]) -> Int64 {
        var seen: Set<PhysicalFile.Identity> = []
        return files.reduce(0) { seen.insert($1.identity).inserted ? $0 + $1.size : $0 }
    }
}

extension CachedBlob {
    /// The file, unless it is not ours.
    fileprivate var ownFile: PhysicalFile? { isForeign ? nil : file }
}
