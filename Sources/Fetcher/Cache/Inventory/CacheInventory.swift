package import Catalog
package import HubCore

/// The items of a cache that can be selected for deletion, and what a selection frees.
package struct CacheInventory: Sendable {
    package var state: CacheState
    package var items: [CacheItem]
    /// The bytes freed by a selection of ``items``; initially empty.
    package var ledger: DeletionLedger
    /// Xet's removable files.
    package var xet = XetFolder.Removable()
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
        xet folder: XetFolder? = nil, now: Double
    ) throws(AIError) {
        self.state = state
        let kept = folder?.contents() ?? .init()
        size = state.size(with: kept)
        diskFree = try FileSystem.diskSpace(state.layout.root).available
        items = []
        ledger = DeletionLedger(state.layout)
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
                    subject: .payloads(names: unused.map(\.name)), size: files.reduce(0) { $0 + $1.size },
                    lastUsedAt: files.map(\.accessed).max()),
                ledger.choice(files))
        }
        if let folder { xet = try folder.removable() }
        if let folder, !xet.isEmpty {
            append(
                CacheItem(
                    subject: .xet, size: xet.size, lastUsedAt: xet.lastUsedAt,
                    obstacle: folder.isIdle(kept, now: now) ? nil : .inUse(.recent)),
                ledger.choice(bytes: xet.size))
        }
    }

    /// The repository of an item.
    package func repository(of item: CacheItem) -> CachedRepository? {
        switch item.subject {
        case .revision(let index, _), .remains(let index), .partials(let index, _), .orphans(let index, _):
            state.repositories[index]
        case .payloads, .xet: nil
        }
    }

    /// The plan for deleting these items, including protected ones. Xet's folder is not part of it. Blocks.
    ///
    /// - Parameters:
    ///   - protection: read now.
    ///   - interrupted: interrupted deletions, which are finished too.
    package func plan(
        _ chosen: [Int], protection: Protection = Protection(), interrupted: [BegunDeletion] = [], now: Double
    ) throws(AIError) -> DeletionPlan {
        var planner = DeletionPlanner(state, protection: protection, now: now)
        try planner.addInterrupted(interrupted)
        // Leftovers first, as in gc: otherwise the last revision would include them.
        for item in chosen.map({ items[$0] }) {
            switch item.subject {
            case .partials(let index, _): try planner.addPartials(of: state.repositories[index])
            case .orphans(let index, _): try planner.addOrphans(of: state.repositories[index])
            case .payloads: planner.addUnusedPayloads()
            case .remains(let index): try planner.add(state.repositories[index], reason: "chosen")
            case .revision, .xet: break
            }
        }
        for item in chosen.map({ items[$0] }) {
            guard case .revision(let index, let revision) = item.subject else { continue }
            let repository = state.repositories[index]
            try planner.add(repository.revisions[revision], of: repository, reason: "chosen")
        }
        return planner.plan
    }
}
