import Catalog
import Fetcher
import HubCore

/// What the list asks of the disk and of the catalog. All of it blocks.
struct ScreenActions: Sendable {
    let workspace: Workspace

    /// Pins a revision, or takes its pin away.
    func pin(_ inventory: CacheInventory, _ place: Int, _ isPinned: Bool) throws(AIError) {
        let item = inventory.items[place]
        guard let commit = item.commit, let folder = inventory.repository(of: item)?.folder.name else { return }
        guard let catalog = workspace.catalog else {
            throw AIError(.catalogUnusable, "pins are kept in the catalog, and it cannot be used")
        }
        let record = CacheRecord(workspace.layout, in: catalog)
        if isPinned {
            try record.pin(folder, commit, note: nil)
        } else {
            try record.unpin(folder, commit)
        }
    }

    /// Everything that would go with these items, path by path.
    func review(_ inventory: CacheInventory, _ marked: [Int]) throws(AIError) -> ScreenReview {
        let protection = try workspace.readProtection(for: inventory.state.files)
        let plan = try inventory.plan(
            marked, protection: protection, interrupted: workspace.journal.interrupted(), now: Timestamp.now)
        let paths = try DeletionPaths(plan, layout: workspace.layout)
        var lines = plan.protected.map { entry in
            let commit = entry.commit.map { "@\($0.short)" } ?? ""
            return ScreenReview.Line(
                text: "stays: \(entry.repository)\(commit): \(entry.reason)", isProtected: true)
        }
        lines += paths.entries.map { .init(text: $0.path, size: $0.size) }
        let includesXet = marked.contains { inventory.items[$0].subject == .xet }
        if includesXet { lines += inventory.xet.entries.map { .init(text: $0.path, size: $0.size) } }
        let xetBytes = includesXet ? inventory.xet.size : 0
        return ScreenReview(
            plan: plan, lines: lines, pathCount: lines.count { !$0.isProtected },
            freedBytes: plan.freedBytes + xetBytes,
            allocatedBytes: DeletionView.differs(plan.freedBytes, plan.allocatedBytes)
                ? plan.allocatedBytes + xetBytes : nil,
            includesXet: includesXet)
    }
}
