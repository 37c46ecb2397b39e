import Fetcher
import HubCore

/// A screen as lines of texts at their columns.
struct ScreenPage: Sendable, Hashable {
    struct Span: Sendable, Hashable {
        var column: Int
        var text: String
        var style: Styled.Style = .plain
    }
    struct Line: Sendable, Hashable {
        var spans: [Span] = []
        var isSelected = false

        /// The line as it is read.
        var text: String {
            spans.reduce("") { line, span in
                line + String(repeating: " ", count: max(span.column - DisplayWidth.of(line), 0)) + span.text
            }
        }
    }

    var lines: [Line]
    /// Where the terminal's own cursor stands: readers of screens follow it.
    var cursor: (line: Int, column: Int) {
        get { (cursorLine, cursorColumn) }
        set { (cursorLine, cursorColumn) = newValue }
    }
    private var cursorLine = 0
    private var cursorColumn = 0

    init(lines: [Line]) { self.lines = lines }
}

/// Draws a model. Everything comes from the model; only the rows in sight are touched.
struct ScreenRenderer: Sendable {
    let isUnicode: Bool
    /// The widest text of each column, over all rows.
    private let natural: [ScreenColumns.Kind: Int]

    init(_ model: ScreenModel, isUnicode: Bool) {
        self.isUnicode = isUnicode
        var natural: [ScreenColumns.Kind: Int] = [:]
        let items = model.inventory.items
        for (index, (item, row)) in zip(items, model.rows).enumerated() {
            for kind in ScreenColumns.Kind.allCases {
                natural[kind] = max(natural[kind] ?? 0, DisplayWidth.of(Self.text(kind, row, item)))
            }
            // In some order it comes below another row of its model, with its short name.
            let neighbours = [index - 1, index + 1].filter(items.indices.contains)
            if item.repository != nil, neighbours.contains(where: { items[$0].repository == item.repository }) {
                let width = Self.indent(isUnicode: isUnicode).count + DisplayWidth.of(row.shortName)
                natural[.name] = max(natural[.name] ?? 0, width)
            }
        }
        // Any revision can be pinned.
        natural[.flags] = max(natural[.flags] ?? 0, "pinned".utf8.count)
        self.natural = natural
    }

    private static func indent(isUnicode: Bool) -> String { isUnicode ? " └ " : " + " }
    private var ellipsis: String { isUnicode ? "…" : "~" }

    func page(_ model: ScreenModel) -> ScreenPage {
        switch model.mode {
        case .list, .filter: listPage(model)
        case .files(let top):
            textPage(
                model, title: filesTitle(model), second: "", top: top, model.files.map(fileLine), keys: Self.back)
        case .help(let top):
            textPage(
                model, title: "hub gc: keys", second: "", top: top,
                ScreenHelp.lines.map { [.init(column: 0, text: $0)] }, keys: Self.back)
        case .review(let top, let showsPaths): reviewPage(model, top, showsPaths)
        }
    }

    // MARK: The list

    private func listPage(_ model: ScreenModel) -> ScreenPage {
        let (layout, width) = (model.layout, model.columns)
        var lines: [ScreenPage.Line] = []
        if layout.showsPlace { lines.append(placeLine(model)) }
        if layout.showsTotals { lines.append(line(totals(model), width, .strong)) }
        let columns = ScreenColumns(natural: natural, width: width)
        if layout.showsHeader { lines.append(header(columns, width)) }
        for number in model.top..<(model.top + layout.bodyHeight) { lines.append(bodyLine(model, number, columns)) }
        if layout.showsMessage { lines.append(line(footer(model), width, .caution)) }
        if layout.showsKeys {
            lines.append(line(model.mode == .filter ? Self.filterKeys : Self.keys(width), width, .faint))
        }
        var page = ScreenPage(lines: Array(lines.prefix(model.lines)))
        if model.mode == .filter, layout.showsMessage {
            page.cursor = (
                layout.bodyTop + layout.bodyHeight, min(1 + DisplayWidth.of(shown(model.filter)), width - 1)
            )
        } else {
            page.cursor = (layout.bodyTop + model.line(ofRow: model.cursor) - model.top, min(3, width - 1))
        }
        return page
    }

    /// The keys that fit; the way out and the list of all keys stay the longest.
    static func keys(_ width: Int) -> String {
        var keys = ["space mark", "s sort", "/ filter", "i files", "p pin", "Enter review", "? help", "q quit"]
        for expendable in ["p pin", "i files", "s sort", "/ filter", "space mark", "Enter review"]
        where keys.joined(separator: "  ").utf8.count > width { keys.removeAll { $0 == expendable } }
        return keys.joined(separator: "  ")
    }
    static let filterKeys = "Enter keep the filter  Esc show all"
    static let back = "arrows scroll  any other key: back"
    static func reviewKeys(isTrash: Bool, showsPaths: Bool, _ width: Int) -> String {
        let keys =
            (isTrash ? "y move to trash" : "y delete  t move to trash") + (showsPaths ? "  v rows" : "  v paths")
        return keys.utf8.count + 2 + back.utf8.count > width ? "\(keys)  any other key: back" : "\(keys)  \(back)"
    }

    private func placeLine(_ model: ScreenModel) -> ScreenPage.Line {
        let left =
            Self.dryRun(model)
            + "cache \(ByteCount(model.inventory.size)), \(ByteCount(model.inventory.diskFree)) free on the disk"
        let right = model.order.description
        let place = model.columns - right.utf8.count
        guard place >= left.utf8.count + 2 else { return line(left, model.columns) }
        return .init(spans: [
            .init(column: 0, text: left), .init(column: place, text: right, style: .faint),
        ])
    }

    /// What a dry run says first of itself.
    private static func dryRun(_ model: ScreenModel) -> String { model.isDryRun ? "dry run: " : "" }

    private func totals(_ model: ScreenModel) -> String {
        guard model.markedCount > 0 else { return "nothing is marked" }
        let together = model.ledger.freedBytes - model.freedApart
        let more = together > 0 ? " (\(ByteCount(together)) only together)" : ""
        return
            "\(model.markedCount) marked: frees \(ByteCount(model.ledger.freedBytes))\(more), then \(ByteCount(model.freeAfterwards)) free"
    }

    private func footer(_ model: ScreenModel) -> String {
        if model.mode == .filter { return "/" + model.filter }
        if let message = model.message { return message }
        if model.shown.isEmpty {
            return model.filter.isEmpty ? "the cache is empty" : "no row matches \"\(model.filter)\""
        }
        var text = "row \(model.cursor + 1) of \(model.shown.count)"
        if !model.filter.isEmpty { text += " matching \"\(model.filter)\"" }
        if let goal = model.goal, model.order == .used, model.filter.isEmpty {
            if !model.isGoalWithinReach {
                text += "; deleting all rows does not free enough for \(ByteCount(goal))"
            } else if model.suggestion == nil {
                text += "; \(ByteCount(goal)) already free"
            }
        }
        return text
    }

    private func header(_ columns: ScreenColumns, _ width: Int) -> ScreenPage.Line {
        .init(
            spans: columns.columns.filter { !$0.kind.header.isEmpty && $0.width > 0 }.map {
                cell($0.kind.header, $0, .faint)
            })
    }

    private func bodyLine(_ model: ScreenModel, _ number: Int, _ columns: ScreenColumns) -> ScreenPage.Line {
        guard number < model.lineCount else { return .init() }
        if let suggestion = model.suggestion, number == suggestion, let goal = model.goal {
            let dash = isUnicode ? "─" : "-"
            let text = "\(dash)\(dash) delete all above for \(ByteCount(goal)) free "
            let rest = max(model.columns - DisplayWidth.of(text), 0)
            return line(text + String(repeating: dash, count: rest), model.columns, .good)
        }
        let place = model.suggestion.map { number > $0 ? number - 1 : number } ?? number
        return row(model, place, columns, isFirstInSight: number == model.top)
    }

    private func row(_ model: ScreenModel, _ place: Int, _ columns: ScreenColumns, isFirstInSight: Bool)
        -> ScreenPage.Line
    {
        let index = model.shown[place]
        let (item, texts) = (model.inventory.items[index], model.rows[index])
        let isSelected = place == model.cursor && model.mode != .filter
        let isMarked = model.isMarked(index)
        let mark = isMarked ? "[x]" : model.refusal(index) == nil ? "[ ]" : "[-]"
        let style: Styled.Style = isMarked ? .bad : .plain
        var spans = [
            ScreenPage.Span(
                column: 0, text: fit((place == model.cursor ? "> " : "  ") + mark, model.columns), style: style)
        ]
        let follows =
            !isFirstInSight && place > 0 && item.repository != nil
            && model.inventory.items[model.shown[place - 1]].repository == item.repository
        for column in columns.columns where column.width > 0 {
            var text = Self.text(column.kind, texts, item)
            if column.kind == .name, follows { text = Self.indent(isUnicode: isUnicode) + texts.shortName }
            // The name column already says what it is.
            if text.isEmpty || (column.kind == .refs && follows && item.commit == nil) { continue }
            spans.append(cell(text, column, columnStyle(column.kind, item, isMarked)))
        }
        return .init(spans: spans, isSelected: isSelected)
    }

    private func columnStyle(_ kind: ScreenColumns.Kind, _ item: CacheItem, _ isMarked: Bool) -> Styled.Style {
        switch kind {
        case .name: isMarked ? .bad : .name
        case .flags: item.isDamaged ? .bad : .caution
        case .used, .downloaded: .faint
        case .refs, .size, .frees: .plain
        }
    }

    private static func text(_ kind: ScreenColumns.Kind, _ row: ScreenRow, _ item: CacheItem) -> String {
        switch kind {
        case .name: row.name
        case .refs: row.refs
        case .size: row.size
        case .frees: row.frees
        case .used: row.used
        case .downloaded: row.downloaded
        case .flags: ScreenRow.flags(item)
        }
    }

    private func cell(_ text: String, _ column: ScreenColumns.Column, _ style: Styled.Style) -> ScreenPage.Span {
        let cut: Truncation = column.kind == .name ? .middle : .end
        let text = DisplayWidth.fit(shown(text), column.width, cut, ellipsis: ellipsis)
        let shift = column.kind.isRight ? column.width - DisplayWidth.of(text) : 0
        return .init(column: column.start + shift, text: text, style: style)
    }

    // MARK: Pages of text

    private func textPage(
        _ model: ScreenModel, title: String, second: String, top: Int, _ body: [[ScreenPage.Span]], keys: String,
        remark: String = "", cut: Truncation = .middle
    ) -> ScreenPage {
        let (layout, width) = (model.layout, model.columns)
        var lines: [ScreenPage.Line] = []
        if layout.showsPlace { lines.append(line(title, width, .strong)) }
        if layout.showsTotals { lines.append(line(layout.showsPlace ? second : title, width, .strong)) }
        if layout.showsHeader { lines.append(.init()) }
        for number in top..<(top + layout.bodyHeight) {
            guard body.indices.contains(number) else {
                lines.append(.init())
                continue
            }
            lines.append(
                .init(
                    spans: body[number].filter { $0.column < width }.map { span in
                        .init(
                            column: span.column, text: fit(span.text, width - span.column, cut),
                            style: span.style)
                    }))
        }
        if layout.showsMessage {
            let last = min(top + layout.bodyHeight, body.count)
            let place = body.count > layout.bodyHeight ? "lines \(top + 1)-\(last) of \(body.count)" : ""
            lines.append(line([place, remark].filter { !$0.isEmpty }.joined(separator: "; "), width, .faint))
        }
        if layout.showsKeys { lines.append(line(keys, width, .faint)) }
        var page = ScreenPage(lines: Array(lines.prefix(model.lines)))
        page.cursor = (min(layout.bodyTop, max(model.lines - 1, 0)), 0)
        return page
    }

    private func filesTitle(_ model: ScreenModel) -> String {
        guard let current = model.current else { return "" }
        let item = model.inventory.items[current]
        let name = model.rows[current].name + (item.commit.map { "@\($0.hash)" } ?? " \(ScreenRow.kind(item))")
        return "\(name): \(Humanize.plural(model.files.count, "file")), \(ByteCount(item.size))"
    }

    private func fileLine(_ file: ItemFile) -> [ScreenPage.Span] {
        let size = file.size.map { "\(ByteCount($0))" } ?? "missing"
        let shared = file.sharedWith.isEmpty ? "" : "  shared with \(file.sharedWith.joined(separator: ", "))"
        return [
            .init(column: max(8 - size.utf8.count, 0), text: size, style: file.size == nil ? .bad : .plain),
            .init(column: 10, text: SafeText.line(file.path + shared)),
        ]
    }

    private func reviewPage(_ model: ScreenModel, _ top: Int, _ showsPaths: Bool) -> ScreenPage {
        guard let review = model.review else { return listPage(model) }
        let after = review.freeAfterwards(model.inventory.diskFree)
        let second =
            model.isTrash
            ? "\(review.amount), freed by hub trash empty"
            : "frees \(review.amount), then \(after) free"
        let body = model.reviewLines.map { entry -> [ScreenPage.Span] in
            let size = entry.size.map { "\(ByteCount($0))" } ?? ""
            let text = SafeText.line(entry.text)
            if entry.isProtected { return [.init(column: 0, text: text, style: .caution)] }
            return (size.isEmpty ? [] : [.init(column: max(8 - size.utf8.count, 0), text: size)])
                + [.init(column: 10, text: text)]
        }
        let title =
            Self.dryRun(model) + (model.isTrash ? "Move to the trash: " : "Delete ")
            + (showsPaths ? review.pathCount : review.rowCount)
            + " from \(SafeText.line(model.inventory.state.layout.root))?"
        return textPage(
            model, title: title, second: second, top: top, body,
            keys: Self.reviewKeys(isTrash: model.isTrash, showsPaths: showsPaths, model.columns),
            remark: review.plan.remarks.first ?? "", cut: showsPaths ? .start : .middle)
    }

    // MARK: Texts

    private func line(_ text: String, _ width: Int, _ style: Styled.Style = .plain) -> ScreenPage.Line {
        text.isEmpty ? .init() : .init(spans: [.init(column: 0, text: fit(text, width), style: style)])
    }

    private func fit(_ text: String, _ width: Int, _ truncation: Truncation = .end) -> String {
        DisplayWidth.fit(shown(text), width, truncation, ellipsis: ellipsis)
    }

    /// The text in characters that this terminal can show.
    private func shown(_ text: String) -> String {
        isUnicode || text.utf8.allSatisfy { $0 < 0x80 } ? text : String(text.map { $0.isASCII ? $0 : "?" })
    }
}
