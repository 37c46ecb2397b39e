package import Catalog
package import HubCore

/// The items of a cache that can be selected for deletion, and what a selection frees.
package struct CacheInventory: Sendable {
    package var state: CacheState
    package var items: [CacheItem]
    /// The bytes freed by a selection of ``items``; initially empty.
    package var ledger: DeletionLedger
    private let xet: XetFolder?
    /// Xet's removable files.
    let chunks: XetFolder.Removable
    /// The cache's size in bytes: snapshots, unfinished downloads, orphans, and Xet's folder.
    package var size: Int64
    /// Bytes free on the cache's disk.
    package var diskFree: Int64

    /// Checks locks and folders that are not snapshots. Blocks.
    ///
    /// - Parameters:
    ///   - state: read fresh.
    ///   - protection: what is pinned, and what other processes have open.
    ///   - verified: damage found by verification.
    package init(
        _ state: CacheState, protection: Protection = Protection(), verified: VerifiedContent = VerifiedContent(),
        xet: XetFolder? = nil, now: Double
    ) throws(AIError) {
        self.state = state
        self.xet = xet
        let kept = xet?.contents() ?? .init()
        chunks = try xet?.removable() ?? .init()
        size = state.totalSize + state.partialSize + state.otherSize + kept.bytes
        diskFree = try FileSystem.diskSpace(state.layout.root).available
        items = []
        ledger = DeletionLedger(state)
        var obstacles = DeletionObstacles(protection, now: now)
        for index in state.repositories.indices {
            try addRevisions(of: index, verified, &obstacles)
            try addLeftovers(of: index, &obstacles)
        }
        let store = SharedStore(layout: state.layout)
        let unused = state.unusedPayloads.filter {
            store.references($0.name)?.isEmpty == true && $0.file != nil && obstacles.user(of: $0.file) == nil
        }
        if !unused.isEmpty {
            let files = unused.compactMap(\.file)
            append(
                CacheItem(
                    subject: .payloads(unused.map(\.name)), size: files.reduce(0) { $0 + $1.size },
                    lastUsedAt: files.map(\.accessed).max()),
                ledger.choice(files))
        }
        if let xet, !chunks.isEmpty {
            append(
                CacheItem(
                    subject: .xet, size: chunks.size, lastUsedAt: chunks.lastUsedAt,
                    obstacle: xet.isIdle(kept, now: now) ? nil : .inUse(.recent)),
                ledger.choice(bytes: chunks.size))
        }
    }

    /// The repository of an item.
    package func repository(of item: CacheItem) -> CachedRepository? { item.place.map { state.repositories[$0] } }

    /// The plan for deleting these items, including protected ones. Blocks.
    ///
    /// - Parameter protection: read now.
    package func plan(_ chosen: [Int], protection: Protection = Protection(), now: Double) throws(AIError)
        -> DeletionPlan
    {
        var planner = DeletionPlanner(state, protection: protection, now: now)
        // Leftovers first, as in gc: otherwise the last revision would include them.
        let items = chosen.map { self.items[$0] }
        for item in items {
            let repository = repository(of: item)
            switch item.subject {
            case .partials: try planner.addPartials(of: repository!)
            case .orphans: try planner.addOrphans(of: repository!)
            case .remains: try planner.add(repository!, reason: "chosen")
            case .payloads: planner.addUnusedPayloads()
            case .revision, .xet: break
            }
        }
        for item in items {
            if case .revision(let number) = item.subject, let repository = repository(of: item) {
                try planner.add(repository.revisions[number], of: repository, reason: "chosen")
            } else if let xet, item.subject == .xet {
                planner.add(xet, size: chunks.size, reason: "chosen")
            }
        }
        return planner.plan
    }
}
