import Catalog
import Fetcher
import HubCore

/// What the list asks of the disk and of the catalog. All of it blocks.
struct ScreenActions: Sendable {
    let workspace: Workspace

    /// Pins or unpins a revision.
    func pin(_ inventory: CacheInventory, _ place: Int, _ isPinned: Bool) throws(AIError) {
        let item = inventory.items[place]
        guard let commit = item.commit, let folder = inventory.repository(of: item)?.folder.name else { return }
        guard let catalog = workspace.catalog else {
            throw AIError(.catalogUnusable, "cannot change the pin: the catalog is unusable")
        }
        let record = CacheRecord(workspace.layout, in: catalog)
        if isPinned {
            try record.pin(folder, commit, note: nil)
        } else {
            try record.unpin(folder, commit)
        }
    }

    /// What would be deleted with these items.
    func review(_ inventory: CacheInventory, _ marked: [Int]) throws(AIError) -> ScreenReview {
        let protection = try workspace.readProtection(for: inventory.state.files)
        let plan = try inventory.plan(
            marked, protection: protection, interrupted: workspace.journal.interrupted(), now: Timestamp.now)
        var paths = try DeletionPaths(plan, layout: workspace.layout).entries.map {
            ScreenReview.Line(text: $0.path, size: $0.size)
        }
        var lines = plan.protected.map {
            ScreenReview.Line(text: "stays: \($0.name): \($0.reason)", isProtected: true)
        }
        lines += plan.rows.map { row in
            var text = DeletionView.name(row)
            if case .revision = row.subject {} else { text += ", \(DeletionView.what(row))" }
            if !row.refs.isEmpty { text += " (\(row.refs.joined(separator: ", ")))" }
            return .init(text: text, size: row.freedBytes)
        }
        let includesXet = marked.contains { inventory.items[$0].subject == .xet }
        let xetBytes = includesXet ? inventory.xet.size : 0
        if includesXet {
            lines.append(.init(text: "chunks kept by Xet", size: xetBytes))
            paths += inventory.xet.entries.map { .init(text: $0.path, size: $0.size) }
        }
        return ScreenReview(
            plan: plan, lines: lines, paths: paths,
            freedBytes: plan.freedBytes + xetBytes,
            allocatedBytes: DeletionView.differs(plan.freedBytes, plan.allocatedBytes)
                ? plan.allocatedBytes + xetBytes : nil,
            includesXet: includesXet)
    }
}
