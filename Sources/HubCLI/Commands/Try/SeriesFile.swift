import HubCore
import Libc

/// A CSV file (https://www.rfc-editor.org/rfc/rfc4180) with columns of numbers; commas, semicolons or tabs between cells.
struct SeriesFile {
    private let name: String
    private let separator: Character
    /// nil where the first line has numbers.
    private let header: [String]?
    private let rows: [(line: Int, cells: [String])]

    /// - Parameter name: for messages.
    /// - Throws: ``ErrorCode/invalidInput`` for a file without rows, or with rows of different lengths.
    init(_ text: String, name: String) throws(AIError) {
        self.name = name.printable
        let firstLine = text.prefix { !$0.isNewline }
        separator =
            [",", ";", "\t"].max { one, other in
                firstLine.count { $0 == one } < firstLine.count { $0 == other }
            } ?? ","
        let all = Self.rows(text, separator)
        guard let first = all.first else { throw AIError(.invalidInput, "\(self.name) has no lines") }
        if let other = all.first(where: { $0.cells.count != first.cells.count }) {
            throw AIError(
                .invalidInput,
                "line \(other.line) of \(self.name) has \(Humanize.plural(other.cells.count, "cell")), the first has \(first.cells.count)"
            )
        }
        let separator = separator
        let isHeader = first.cells.allSatisfy { Self.number($0, separator) == nil && !Self.isMissing($0) }
        header = isHeader ? first.cells : nil
        rows = isHeader ? Array(all.dropFirst()) : all
    }

    /// The values of a column, NaN for those that are missing.
    ///
    /// - Parameter column: its header or its number from 1; nil for the only one of numbers.
    /// - Throws: ``ErrorCode/invalidInput`` for a column that does not exist, or that has something else than numbers.
    func values(column: String?) throws(AIError) -> [Double] {
        let place = try place(column)
        return try rows.map { row throws(AIError) in
            if Self.isMissing(row.cells[place]) { return .nan }
            guard let number = Self.number(row.cells[place], separator) else {
                throw AIError(
                    .invalidInput, "line \(row.line) of \(name): \(row.cells[place].printable) is not a number")
            }
            return number
        }
    }

    private func place(_ column: String?) throws(AIError) -> Int {
        let count = header?.count ?? rows.first?.cells.count ?? 0
        if let column {
            if let place = header?.firstIndex(of: column) { return place }
            if let number = Int(column), (1...max(1, count)).contains(number) { return number - 1 }
            throw AIError(
                .invalidInput, "\(name) has no column \(column.printable)",
                advice: "it has \(names(Array(0..<count)))")
        }
        if count == 1 { return 0 }
        let numbers = (0..<count).filter { place in
            rows.allSatisfy { Self.isMissing($0.cells[place]) || Self.number($0.cells[place], separator) != nil }
                && rows.contains { !Self.isMissing($0.cells[place]) }
        }
        guard let first = numbers.first else {
            throw AIError(
                .invalidInput, "\(name) has no column of numbers",
                advice: "--column NAME chooses one and says what is wrong with it")
        }
        guard numbers.count == 1 else {
            throw AIError(
                .invalidInput, "\(name) has \(numbers.count) columns of numbers",
                advice: "choose one with --column: \(names(numbers))")
        }
        return first
    }

    private func names(_ places: [Int]) -> String {
        places.map { header?[$0].printable ?? "\($0 + 1)" }.joined(separator: ", ")
    }

    private static func isMissing(_ cell: String) -> Bool {
        ["", "na", "n/a", "nan", "null", "none", "?"].contains(cell.lowercased())
    }

    /// A finite number; with semicolons between cells it may have a decimal comma.
    private static func number(_ cell: String, _ separator: Character) -> Double? {
        let text = separator == ";" && !cell.contains(".") ? cell.replacing(",", with: ".") : cell
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Cells without the spaces around them, by line. In a file of one column an empty line between others is an empty cell;
    /// any other empty line is left out. A cell in quotes may hold separators, ends of lines, and quotes written twice.
    private static func rows(_ text: String, _ separator: Character) -> [(line: Int, cells: [String])] {
        var (rows, cells, cell): ([(Int, [String])], [String], String) = ([], [], "")
        var (line, first, isQuoted, wasQuoted) = (1, 1, false, false)
        func endCell() {
            cells.append(
                wasQuoted
                    ? cell
                    : String(cell.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()))
            (cell, wasQuoted) = ("", false)
        }
        func endRow() {
            let isEmpty = cells.isEmpty && !wasQuoted && cell.allSatisfy(\.isWhitespace)
            endCell()
            rows.append((first, isEmpty ? [] : cells))
            cells = []
        }
        var rest = text[...]
        if rest.first == "\u{FEFF}" { rest.removeFirst() }
        while let character = rest.popFirst() {
            switch character {
            case "\"" where isQuoted && rest.first == "\"":
                cell.append("\"")
                rest.removeFirst()
            case "\"" where isQuoted || cell.allSatisfy(\.isWhitespace):
                if !isQuoted { cell = "" }
                isQuoted.toggle()
                wasQuoted = true
            case separator where !isQuoted: endCell()
            case _ where character.isNewline:
                line += 1
                if isQuoted {
                    cell.append(character)
                } else {
                    endRow()
                    first = line
                }
            default: if isQuoted || !wasQuoted || !character.isWhitespace { cell.append(character) }
            }
        }
        endRow()
        guard let start = rows.firstIndex(where: { !$0.1.isEmpty }),
            let end = rows.lastIndex(where: { !$0.1.isEmpty })
        else { return [] }
        let isOneColumn = rows[start].1.count == 1
        return rows[start...end].compactMap { line, cells in
            cells.isEmpty ? isOneColumn ? (line, [""]) : nil : (line, cells)
        }
    }
}
