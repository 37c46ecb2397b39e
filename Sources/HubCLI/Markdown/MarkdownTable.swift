/// A table of Markdown, which is drawn when it is complete: its columns are as wide as their widest cell.
struct MarkdownTable {
    typealias Run = Styled.Run

    private var lines: [String] = []

    /// Rows that are held back at most.
    private static let mostRows = 500

    var isEmpty: Bool { lines.isEmpty }
    var isFull: Bool { lines.count >= Self.mostRows }

    mutating func add(_ line: String) { lines.append(line) }

    /// The lines of the table within a width. What only looks like a table is shown as it is.
    func runs(width: Int, isUnicode: Bool) -> [Run] {
        let rows = lines.map(Self.cells)
        guard rows.count >= 2, Self.isDivider(rows[1]) else {
            return lines.flatMap { InlineMarkdown.runs($0) + [Run(text: "\n", style: .plain)] }
        }
        let columns = rows[0].count
        let body = ([rows[0]] + rows.dropFirst(2)).enumerated().map { index, row in
            (0..<columns).map { column in
                InlineMarkdown.runs(column < row.count ? row[column] : "", index == 0 ? .strong : .plain)
            }
        }
        let widths = Self.fit(
            (0..<columns).map { column in body.map { Self.width($0[column]) }.max() ?? 0 }, into: width)
        let rightAligned = Set((0..<columns).filter { $0 < rows[1].count && Self.isRightAligned(rows[1][$0]) })
        let bar = isUnicode ? " │ " : " | "
        var out: [Run] = []
        for (index, row) in body.enumerated() {
            out += Self.lines(row, widths, rightAligned, bar)
            guard index == 0 else { continue }
            let rule = widths.map { String(repeating: isUnicode ? "─" : "-", count: $0) }
            out.append(Run(text: rule.joined(separator: isUnicode ? "─┼─" : "-+-") + "\n", style: .faint))
        }
        return out
    }

    /// The cells of a row, `\|` being no border.
    private static func cells(_ line: String) -> [String] {
        var cells = [""]
        var isEscaped = false
        for character in line {
            if character == "|", !isEscaped {
                cells.append("")
            } else {
                if isEscaped, character == "|" { cells[cells.count - 1].removeLast() }
                cells[cells.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        var trimmed = cells.map { cell in
            let start = cell.drop { $0 == " " || $0 == "\t" }
            return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
        }
        if trimmed.first == "" { trimmed.removeFirst() }
        if trimmed.count > 1, trimmed.last == "" { trimmed.removeLast() }
        return trimmed
    }

    private static func isDivider(_ cells: [String]) -> Bool {
        cells.allSatisfy { $0.contains("-") && $0.allSatisfy { "-: ".contains($0) } }
    }

    /// `---:`; a column with colons on both sides is centered, and shown as a left-aligned one.
    private static func isRightAligned(_ divider: String) -> Bool {
        divider.hasSuffix(":") && !divider.hasPrefix(":")
    }

    private static func width(_ runs: [Run]) -> Int { runs.reduce(0) { $0 + DisplayWidth.of($1.text) } }

    /// Widths that fit: the widest column gives first, none below eight cells.
    private static func fit(_ natural: [Int], into width: Int) -> [Int] {
        var widths = natural
        let gaps = 3 * (natural.count - 1)
        while widths.reduce(gaps, +) > width, let most = widths.max(), most > 8 {
            widths[widths.firstIndex(of: most)!] -= 1
        }
        return widths
    }

    /// A row in as many lines as its longest cell needs.
    private static func lines(_ row: [[Run]], _ widths: [Int], _ rightAligned: Set<Int>, _ bar: String) -> [Run] {
        let cells = zip(row, widths).map { runs, width in
            self.width(runs) <= width
                ? [runs]
                : TextWrap.cells(runs.map(\.text).joined(), width: max(2, width)).map {
                    [Run(text: $0, style: runs.first?.style ?? .plain)]
                }
        }
        var out: [Run] = []
        for line in 0..<(cells.map(\.count).max() ?? 0) {
            for (column, cell) in cells.enumerated() {
                if column > 0 { out.append(Run(text: bar, style: .faint)) }
                let runs = line < cell.count ? cell[line] : []
                let room = String(repeating: " ", count: max(0, widths[column] - width(runs)))
                let isRight = rightAligned.contains(column)
                if isRight { out.append(Run(text: room, style: .plain)) }
                out += runs
                if !isRight, column < cells.count - 1 { out.append(Run(text: room, style: .plain)) }
            }
            out.append(Run(text: "\n", style: .plain))
        }
        return out
    }
}
