import Fetcher
import HubCore

/// A screen as lines of texts at their columns.
struct ScreenPage: Sendable {
    struct Span: Sendable {
        var column: Int
        var text: String
        var style: Styled.Style = .plain
    }
    struct Line: Sendable {
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
    var cursor = (line: 0, column: 0)
}

/// Draws a model. Everything comes from the model; only the rows in sight are touched.
struct ScreenRenderer: Sendable {
    let isUnicode: Bool
    /// The widest text of each column, over all rows.
    private let natural: [Int]

    init(_ model: ScreenModel, isUnicode: Bool) {
        self.isUnicode = isUnicode
        var natural = ScreenColumns.Kind.allCases.map { kind in
            model.rows.reduce(0) { max($0, DisplayWidth.of($1[kind])) }
        }
        // In some order it comes below another row of its model, with its short name.
        let items = model.inventory.items
        for (index, item) in items.enumerated() where item.repository != nil {
            let neighbours = [index - 1, index + 1].filter(items.indices.contains)
            guard neighbours.contains(where: { items[$0].repository == item.repository }) else { continue }
            let width = Self.indent(isUnicode: isUnicode).count + DisplayWidth.of(model.rows[index].shortName)
            natural[0] = max(natural[0], width)
        }
        // Any revision can be pinned.
        let flags = ScreenColumns.Kind.flags.rawValue
        natural[flags] = max(natural[flags], "pinned".utf8.count)
        self.natural = natural
    }

    private static func indent(isUnicode: Bool) -> String { isUnicode ? " └ " : " + " }
    private var ellipsis: String { isUnicode ? "…" : "~" }

    func page(_ model: ScreenModel) -> ScreenPage { model.page.map { textPage(model, $0) } ?? listPage(model) }

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
            let keys = model.isFiltering ? "Enter keep the filter  Esc show all" : Self.keys(width)
            lines.append(line(keys, width, .faint))
        }
        var page = ScreenPage(lines: Array(lines.prefix(model.lines)))
        if model.isFiltering, layout.showsMessage {
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

    private func placeLine(_ model: ScreenModel) -> ScreenPage.Line {
        let left = model.cacheText
        let right = model.order.rawValue
        let place = model.columns - right.utf8.count
        guard place >= left.utf8.count + 2 else { return line(left, model.columns) }
        return .init(spans: [
            .init(column: 0, text: left), .init(column: place, text: right, style: .faint),
        ])
    }

    private func totals(_ model: ScreenModel) -> String {
        guard model.markedCount > 0 else { return "nothing is marked" }
        let together = model.freedTogether
        let more = together > 0 ? " (\(ByteCount(together)) only together)" : ""
        return
            "\(model.markedCount) marked: frees \(ByteCount(model.ledger.freedBytes))\(more), then \(ByteCount(model.freeAfterwards)) free"
    }

    private func footer(_ model: ScreenModel) -> String {
        if model.isFiltering { return "/" + model.filter }
        if let message = model.message { return message }
        if model.shown.isEmpty {
            return model.filter.isEmpty ? "the cache is empty" : "no row matches \"\(model.filter)\""
        }
        var text = "row \(model.cursor + 1) of \(model.shown.count)"
        if !model.filter.isEmpty { text += " matching \"\(model.filter)\"" }
        return text + model.goalText
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
        let isSelected = place == model.cursor && !model.isFiltering
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
            var text = texts[column.kind]
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

    private func cell(_ text: String, _ column: ScreenColumns.Column, _ style: Styled.Style) -> ScreenPage.Span {
        let cut: Truncation = column.kind == .name ? .middle : .end
        let text = DisplayWidth.fit(shown(text), column.width, cut, ellipsis: ellipsis)
        let shift = column.kind.isRight ? column.width - DisplayWidth.of(text) : 0
        return .init(column: column.start + shift, text: text, style: style)
    }

    // MARK: Pages of text

    private func textPage(_ model: ScreenModel, _ text: ScreenText) -> ScreenPage {
        let (layout, width) = (model.layout, model.columns)
        var lines: [ScreenPage.Line] = []
        if layout.showsPlace { lines.append(line(text.title, width, .strong)) }
        if layout.showsTotals { lines.append(line(layout.showsPlace ? text.second : text.title, width, .strong)) }
        if layout.showsHeader { lines.append(.init()) }
        let body = text.lines.dropFirst(text.top).prefix(layout.bodyHeight)
        lines += body.map { textLine($0, width) }
        lines += Array(repeating: .init(), count: layout.bodyHeight - body.count)
        if layout.showsMessage {
            let count = text.lines.count
            let place = count > layout.bodyHeight ? "lines \(text.top + 1)-\(body.endIndex) of \(count)" : ""
            lines.append(line([place, text.remark].filter { !$0.isEmpty }.joined(separator: "; "), width, .faint))
        }
        if layout.showsKeys {
            let yes = text.plan == nil ? "" : model.isTrash ? "y move to trash  " : "y delete  t move to trash  "
            lines.append(line(yes + "arrows scroll  other keys: back", width, .faint))
        }
        return ScreenPage(
            lines: Array(lines.prefix(model.lines)), cursor: (min(layout.bodyTop, max(model.lines - 1, 0)), 0))
    }

    private func textLine(_ line: ScreenText.Line, _ width: Int) -> ScreenPage.Line {
        let text = SafeText.line(line.text)
        guard !line.size.isEmpty else { return .init(spans: [span(0, text, width, line.style, .middle)]) }
        let cells = [(max(8 - line.size.utf8.count, 0), line.size), (10, text)]
        return .init(
            spans: cells.filter { $0.0 < width }.map { span($0.0, $0.1, width, line.style, .middle) })
    }

    // MARK: Texts

    private func line(_ text: String, _ width: Int, _ style: Styled.Style = .plain) -> ScreenPage.Line {
        text.isEmpty ? .init() : .init(spans: [span(0, text, width, style)])
    }

    /// A text from a column on, cut where the screen ends.
    private func span(
        _ column: Int, _ text: String, _ width: Int, _ style: Styled.Style, _ cut: Truncation = .end
    ) -> ScreenPage.Span {
        .init(column: column, text: fit(text, max(width - column, 0), cut), style: style)
    }

    private func fit(_ text: String, _ width: Int, _ truncation: Truncation = .end) -> String {
        DisplayWidth.fit(shown(text), width, truncation, ellipsis: ellipsis)
    }

    /// The text in characters that this terminal can show.
    private func shown(_ text: String) -> String {
        isUnicode || text.utf8.allSatisfy { $0 < 0x80 } ? text : String(text.map { $0.isASCII ? $0 : "?" })
    }
}
