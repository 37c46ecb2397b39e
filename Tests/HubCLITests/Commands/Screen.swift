import HubCore

/// What a person sees on a terminal after these bytes: as much of a terminal as `hub` uses.
struct Screen {
    private var rows: [[Character]] = [[]]
    private var row = 0
    private var column = 0

    /// The rows, their ends trimmed, without the empty ones at the end.
    var text: String {
        var lines = rows.map { row in
            String(String(row.reversed().drop { $0 == " " }).reversed())
        }
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n")
    }

    init(_ text: String, columns: Int) {
        var rest = Substring(text)
        while let character = rest.popFirst() {
            switch character {
            case "\r\n": newLine()
            case "\n": newLine()
            case "\r": column = 0
            case "\u{1B}": escape(&rest)
            default:
                if column == columns { newLine() }
                put(character)
            }
        }
    }

    private mutating func newLine() {
        row += 1
        column = 0
        if row == rows.count { rows.append([]) }
    }

    private mutating func put(_ character: Character) {
        while rows[row].count <= column { rows[row].append(" ") }
        rows[row][column] = character
        column += 1
    }

    /// CSI n A (up), J and K (erase behind the cursor), m (colour).
    private mutating func escape(_ rest: inout Substring) {
        guard rest.first == "[" else { fatalError("an escape that is no CSI") }
        rest = rest.dropFirst()
        let parameters = rest.prefix { $0.isNumber || $0 == ";" }
        rest = rest.dropFirst(parameters.count)
        let final = rest.popFirst()
        switch final {
        case "A": row = max(0, row - (Int(parameters) ?? 1))
        case "K": rows[row] = Array(rows[row].prefix(column))
        case "J":
            rows[row] = Array(rows[row].prefix(column))
            rows.removeLast(rows.count - row - 1)
        case "m": break
        default: fatalError("an escape ending in \(final.map(String.init) ?? "nothing")")
        }
    }
}
