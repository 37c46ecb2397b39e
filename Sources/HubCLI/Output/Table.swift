/// Rows under headers, fitted to the terminal.
///
/// Where the rows are too wide, columns that may shrink do so, the widest first; where that is not enough, optional
/// columns are dropped from the right, and then lines are cut. A first column that may not shrink is always whole, even
/// if the terminal has to wrap it. Into a pipe everything is written at full length.
struct Table: Sendable {
    /// A column of the table.
    struct Column: Sendable {
        enum Alignment: Sendable { case left, right }

        var header: String
        var alignment: Alignment
        /// The width down to which it may shrink; nil if it may not.
        var least: Int?
        var truncation: Truncation
        /// Whether it may be dropped on a narrow terminal.
        var isOptional: Bool

        init(
            _ header: String, _ alignment: Alignment = .left, least: Int? = nil, cut truncation: Truncation = .end,
            optional isOptional: Bool = false
        ) {
            self.header = header
            self.alignment = alignment
            self.least = least
            self.truncation = truncation
            self.isOptional = isOptional
        }
    }

    private let columns: [Column]
    private var rows: [[Styled]] = []
    private static let gap = 2

    init(_ columns: [Column]) { self.columns = columns }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row of as many cells as there are columns.
    mutating func add(_ cells: [Styled]) {
        precondition(
            cells.count == columns.count, "a row has \(cells.count) cells, the table \(columns.count) columns")
        rows.append(cells)
    }

    /// The lines, the header first; `width` is that of the terminal, nil for none.
    func lines(width: Int?, ellipsis: String = "…") -> [Styled] {
        guard !rows.isEmpty else { return [] }
        let all = [columns.map { Styled($0.header, .faint) }] + rows
        // A list may have thousands of rows: each cell is measured once.
        let cellWidths = all.map { $0.map(\.width) }
        var widths = columns.indices.map { column in cellWidths.lazy.map { $0[column] }.max() ?? 0 }
        // An optional column that is empty everywhere is dropped first.
        var shown = columns.indices.filter { column in
            !columns[column].isOptional || cellWidths.dropFirst().contains { $0[column] > 0 }
        }
        if let width { fit(&widths, &shown, into: width) }
        return zip(all, cellWidths).map { cells, cellWidths in
            let line = line(cells, cellWidths, shown, widths, ellipsis)
            guard let width else { return line }
            let whole = columns[0].least == nil && !columns[0].isOptional ? widths[0] : 0
            return line.fitted(max(width, whole), .end, ellipsis: ellipsis)
        }
    }

    private func line(
        _ cells: [Styled], _ cellWidths: [Int], _ shown: [Int], _ widths: [Int], _ ellipsis: String
    ) -> Styled {
        var line = Styled("")
        line.reserve(3 * shown.count)
        // Nothing is padded behind the last cell that says something.
        let last = shown.lastIndex { cellWidths[$0] > 0 } ?? 0
        for index in shown.prefix(last + 1) {
            var (cell, width) = (cells[index], cellWidths[index])
            if width > widths[index] {
                cell = cell.fitted(widths[index], columns[index].truncation, ellipsis: ellipsis)
                width = cell.width
            }
            let isLast = index == shown[last]
            let gap = isLast ? 0 : Table.gap
            switch columns[index].alignment {
            case .left:
                line.append(cell)
                if !isLast { line.append(spaces: widths[index] - width + gap) }
            case .right:
                line.append(spaces: widths[index] - width)
                line.append(cell)
                line.append(spaces: gap)
            }
        }
        return line
    }

    private func fit(_ widths: inout [Int], _ shown: inout [Int], into width: Int) {
        let natural = widths
        while true {
            func total() -> Int { shown.reduce(Table.gap * (shown.count - 1)) { $0 + widths[$1] } }
            while total() > width {
                // The widest that can still shrink loses a cell, so that wide columns come to share the room evenly.
                let shrinkable = shown.filter { widths[$0] > (columns[$0].least ?? .max) }
                guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { break }
                widths[widest] -= 1
            }
            if total() <= width { return }
            guard let last = shown.last(where: { columns[$0].isOptional }) else { return }
            shown.removeAll { $0 == last }
            widths = natural
        }
    }
}
