import Fetcher
import HubCore

extension ScreenModel {
    var cacheText: String {
        "\(dryRun)cache \(ByteCount(inventory.size)), \(ByteCount(inventory.diskFree)) free on the disk"
    }

    /// What there is to say of ``goal`` where no rows are suggested.
    var goalText: String {
        guard let goal, suggestion == nil, order == .used, filter.isEmpty else { return "" }
        return isGoalWithinReach
            ? "; \(ByteCount(goal)) already free"
            : "; deleting all rows does not free enough for \(ByteCount(goal))"
    }

    /// The files of the row under the cursor; nil if there is none.
    var filesText: ScreenText? {
        guard let current else { return nil }
        let item = inventory.items[current]
        let files = inventory.files(of: item)
        let name = rows[current].name + (item.commit.map { "@\($0.hash)" } ?? " \(ScreenRow.kind(item))")
        return ScreenText(
            title: "\(name): \(Humanize.plural(files.count, "file")), \(ByteCount(item.size))",
            lines: files.map { file in
                let shared =
                    file.sharedWith.isEmpty ? "" : "  shared with \(file.sharedWith.joined(separator: ", "))"
                return ScreenText.Line(
                    size: file.size.map { "\(ByteCount($0))" } ?? "missing", text: file.path + shared,
                    style: file.size == nil ? .bad : .plain)
            })
    }

    /// What would be deleted, for a person who is about to say yes.
    func reviewText(_ plan: DeletionPlan) -> ScreenText {
        let bytes = plan.freedBytes
        let isSparse = DeletionView.differs(bytes, plan.allocatedBytes)
        let free = ByteCount(inventory.diskFree + (isSparse ? plan.allocatedBytes : bytes))
        let amount = DeletionView.amount(bytes, plan.allocatedBytes)
        let rows = Humanize.plural(plan.rows.count, "row")
        return ScreenText(
            title: dryRun + (isTrash ? "Move to the trash: " : "Delete ")
                + "\(rows) from \(SafeText.line(inventory.state.layout.root))?",
            second: isTrash ? "\(amount), freed by hub trash empty" : "frees \(amount), then \(free) free",
            lines: plan.protected.map { .init(text: "stays: \($0.name): \($0.reason)", style: .caution) }
                + plan.rows.map { .init(size: "\(ByteCount($0.freedBytes))", text: DeletionView.title($0)) },
            remark: plan.remarks.first ?? "", plan: plan)
    }
}
