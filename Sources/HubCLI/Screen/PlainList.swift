import Fetcher
import HubCore

/// The list of `hub gc` as numbered lines, for screen readers and for terminals that cannot move their cursor.
struct PlainList {
    private let model: ScreenModel
    private let context: Context
    private let actions: ScreenActions

    init(
        _ inventory: CacheInventory, goal: Int64?, isTrash: Bool, isDryRun: Bool, context: Context,
        actions: ScreenActions
    ) {
        model = ScreenModel(
            inventory, goal: goal, isTrash: isTrash, isDryRun: isDryRun, columns: 80, lines: 24, now: context.now)
        self.context = context
        self.actions = actions
    }

    /// What a person has chosen and said yes to; nil for nothing.
    ///
    /// - Throws: ``ErrorCode/confirmationRequired`` without a terminal; the rows have been shown.
    func choose() async throws -> ScreenReview? {
        showRows()
        guard model.shown.contains(where: { model.refusal($0) == nil }) else {
            context.output.note("nothing can be deleted: every row is pinned or in use; hub unpin removes a pin")
            return nil
        }
        guard context.isInteractive else {
            throw AIError(
                .confirmationRequired, "choosing rows needs a terminal; nothing was deleted",
                advice: "without a terminal, give a rule such as --older-than 30d")
        }
        while true {
            guard let items = try await askForRows() else { return nil }
            var trial = model
            trial.mark(items, true)
            let actions = actions
            let (inventory, marked) = (model.inventory, trial.marked)
            let review = try await Blocking.run { try actions.review(inventory, marked) }
            for line in review.lines + (context.output.settings.isVerbose ? review.paths : []) {
                let size = line.size.map { "\(ByteCount($0))  " } ?? ""
                context.output.line(Styled(size + line.text, line.isProtected ? .caution : .plain))
            }
            guard !review.isEmpty else { continue }
            for remark in review.plan.remarks { context.output.note(remark) }
            let free = review.freeAfterwards(model.inventory.diskFree)
            let sum = model.isTrash ? review.amount : "frees \(review.amount), then \(free) free"
            context.output.line(Styled("\(review.rowCount); \(sum)", .strong))
            let isAgreed = try await context.confirm(
                model.isTrash ? "Move this to the trash?" : "Delete this?", isGiven: false,
                otherwise: "refusing to delete without confirmation")
            return isAgreed ? review : nil
        }
    }

    private func showRows() {
        var table = Table([
            .init("ROW", .right), .init("NAME", least: 16, cut: .middle), .init("REFS", least: 6),
            .init("SIZE", .right), .init("FREES", .right), .init("USED", .right, optional: true),
            .init("ADDED", .right, optional: true), .init("", least: 6),
        ])
        for (place, index) in model.shown.enumerated() {
            let row = model.rows[index]
            table.add([
                Styled("\(place + 1)"), Styled(row.name, .name), Styled(row.refs), Styled(row.size),
                Styled(row.frees), Styled(row.used, .faint), Styled(row.downloaded, .faint),
                Styled(ScreenRow.flags(model.inventory.items[index]), .caution),
            ])
        }
        context.output.table(table)
        var line =
            (model.isDryRun ? "dry run: " : "")
            + "cache \(ByteCount(model.inventory.size)), \(ByteCount(model.inventory.diskFree)) free on the disk"
        if let goal = model.goal {
            if let suggestion = model.suggestion {
                line += "; deleting rows 1-\(suggestion) makes \(ByteCount(goal)) free"
            } else if model.isGoalWithinReach {
                line += "; \(ByteCount(goal)) already free"
            } else {
                line += "; deleting all rows does not free enough for \(ByteCount(goal))"
            }
        }
        context.output.line(Styled(line, .faint))
    }

    /// The items of the rows typed; nil if none was.
    private func askForRows() async throws -> [Int]? {
        while true {
            context.output.flush()
            context.output.prompt("Rows to delete, such as 1 3-5 (none: Enter): ")
            guard let text = try await StandardInput.line(), text.contains(where: { !$0.isWhitespace }),
                !["q", "quit", "n", "no"].contains(text.filter { !$0.isWhitespace })
            else { return nil }
            do throws(AIError) {
                let items = try Self.rows(text, count: model.shown.count).map { model.shown[$0] }
                if let refused = items.first(where: { model.refusal($0) != nil }) {
                    let place = model.shown.firstIndex(of: refused)! + 1
                    throw AIError(.invalidInput, "row \(place) stays: \(reason(refused))")
                }
                return items
            } catch {
                context.output.warning(error.message)
            }
        }
    }

    private func reason(_ item: Int) -> String {
        model.inventory.items[item].isPinned
            ? "pinned; hub unpin removes the pin" : model.inventory.items[item].obstacle?.text ?? ""
    }

    /// The rows that a text such as `1 3-5` means, counted from 0, each once.
    static func rows(_ text: String, count: Int) throws(AIError) -> [Int] {
        var out: [Int] = []
        for word in text.split(whereSeparator: { $0.isWhitespace || $0 == "," }) {
            let ends = word.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { Int($0) }
            guard let first = ends[0], let last = ends.count == 1 ? first : ends[1], first <= last else {
                throw AIError(
                    .invalidInput, "\"\(String(word).printable)\" is not a row; type numbers such as 1 3-5")
            }
            guard first >= 1, last <= count else {
                throw AIError(.invalidInput, "there is no row \(word): type 1 to \(count)")
            }
            out += (first - 1..<last).filter { !out.contains($0) }
        }
        return out
    }
}
