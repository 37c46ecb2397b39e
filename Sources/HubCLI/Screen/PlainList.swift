import Fetcher
import HubCore

/// The list of `hub gc` as numbered lines, for screen readers and for terminals that cannot move their cursor.
struct PlainList {
    let model: ScreenModel
    let context: Context

    /// The items that a person has chosen; nil for none.
    ///
    /// - Throws: ``ErrorCode/confirmationRequired`` without a terminal; the rows have been shown.
    func choose() async throws -> [Int]? {
        showRows()
        guard model.shown.contains(where: { model.refusal($0) == nil }) else {
            context.output.note("nothing can be deleted: every row is pinned or in use; hub unpin removes a pin")
            return nil
        }
        guard context.isInteractive else {
            throw AIError(
                .confirmationRequired, "choosing rows needs a terminal; nothing was deleted",
                advice: "without a terminal, give a rule such as --unused-for 30d")
        }
        return try await askForRows()
    }

    private func showRows() {
        var table = Table([
            .init("ROW", .right), .init("NAME", least: 16, cut: .middle), .init("REFS", least: 6),
            .init("SIZE", .right), .init("FREES", .right), .init("USED", optional: true),
            .init("ADDED", optional: true), .init("", least: 6),
        ])
        for (place, index) in model.shown.enumerated() {
            let row = model.rows[index]
            table.add([
                Styled("\(place + 1)"), Styled(row.name, .name), Styled(row[.refs]), Styled(row[.size]),
                Styled(row[.frees]), Styled(row[.used], .faint), Styled(row[.downloaded], .faint),
                Styled(row[.flags], .caution),
            ])
        }
        context.output.table(table)
        let suggestion = model.suggestion.flatMap { rows in
            model.goal.map { "; deleting rows 1-\(rows) makes \(ByteCount($0)) free" }
        }
        context.output.line(Styled(model.cacheText + (suggestion ?? model.goalText), .faint))
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
