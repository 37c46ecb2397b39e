/// A terminal of the family of VT100 and xterm, as far as ncurses drives one by the entries `vt100` and `xterm` of
/// terminfo: what stands on its screen after the bytes it was sent.
/// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
package struct TerminalEmulator: Sendable {
    private enum State: Sendable {
        case text
        case escape
        /// Behind `ESC (` and the like: the next byte names a set of characters.
        case characterSet
        case control([UInt8])
    }

    private typealias Row = [String]
    private struct Surface: Sendable {
        var rows: [Row]
        var row = 0
        var column = 0
        /// A character stands in the last column, and the next one begins a line (`xenl` of terminfo).
        var isAtEdge = false
    }

    package private(set) var columns: Int
    package private(set) var rows: Int
    private var surface: Surface
    /// What was on the screen before the alternate one was shown; nil while the usual one is.
    private var usual: Surface?
    private var saved: (row: Int, column: Int) = (0, 0)
    private var region: ClosedRange<Int>
    private var state = State.text
    /// The bytes of a character that are there so far.
    private var pending: [UInt8] = []
    private var lastCharacter = " "
    /// Sequences that it does not know: a screen drawn with one is not to be believed.
    package private(set) var unknown: [String] = []
    /// Modes that were set and not reset, by their numbers with a question mark: `?25` shows the cursor.
    package private(set) var modes: Set<String> = ["?7", "?25"]
    /// Whether the keys send what applications ask for (`ESC =`).
    package private(set) var sendsApplicationKeys = false
    /// What the attributes are: the parameters of the last SGR that did not reset them.
    package private(set) var attributes = ""
    /// Each row's attributes, as far as a character was written with any.
    package private(set) var attributedRows: [Int: Set<String>] = [:]

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        surface = Surface(rows: Self.blank(columns, rows))
        region = 0...(rows - 1)
    }

    private static func blank(_ columns: Int, _ rows: Int) -> [Row] {
        Array(repeating: Row(repeating: " ", count: columns), count: rows)
    }

    /// The rows as they are read, without the spaces at their ends.
    package var lines: [String] {
        surface.rows.map { row in
            var line = row.joined()[...]
            while line.last == " " { line.removeLast() }
            return String(line)
        }
    }

    /// Where the cursor stands, from 0.
    package var cursor: (row: Int, column: Int) { (surface.row, surface.column) }
    /// Whether the alternate screen is shown.
    package var showsAlternate: Bool { usual != nil }

    /// Takes on another size: what does not fit is gone, as in xterm.
    package mutating func resize(columns: Int, rows: Int) {
        func resized(_ surface: Surface) -> Surface {
            var out = surface
            out.rows = surface.rows.prefix(rows).map { row in
                Row(row.prefix(columns)) + Row(repeating: " ", count: max(columns - row.count, 0))
            }
            out.rows += Self.blank(columns, max(rows - surface.rows.count, 0))
            out.row = min(surface.row, rows - 1)
            out.column = min(surface.column, columns - 1)
            return out
        }
        surface = resized(surface)
        usual = usual.map(resized)
        (self.columns, self.rows) = (columns, rows)
        region = 0...(rows - 1)
    }

    package mutating func feed(_ bytes: some Sequence<UInt8>) { for byte in bytes { feed(byte) } }

    private mutating func feed(_ byte: UInt8) {
        switch state {
        case .text:
            if byte >= 0x20 { collect(byte) } else { control(byte) }
        case .escape: escape(byte)
        case .characterSet: state = .text
        case .control(let parameters):
            if byte >= 0x40, byte <= 0x7E {
                state = .text
                sequence(String(decoding: parameters, as: UTF8.self), byte)
            } else {
                state = .control(parameters + [byte])
            }
        }
    }

    // MARK: Characters

    private mutating func collect(_ byte: UInt8) {
        pending.append(byte)
        let length = pending[0] < 0x80 ? 1 : pending[0] < 0xE0 ? 2 : pending[0] < 0xF0 ? 3 : 4
        guard pending.count == length else { return }
        put(String(decoding: pending, as: UTF8.self))
        pending = []
    }

    private mutating func put(_ character: String) {
        let width = Self.width(character)
        if width == 0 {
            // It combines with the previous one.
            let place = max(surface.isAtEdge ? surface.column : surface.column - 1, 0)
            surface.rows[surface.row][place] += character
            return
        }
        if surface.isAtEdge || surface.column + width > columns {
            surface.column = 0
            surface.isAtEdge = false
            lineFeed()
        }
        surface.rows[surface.row][surface.column] = character
        if width == 2 { surface.rows[surface.row][surface.column + 1] = "" }
        if !attributes.isEmpty { attributedRows[surface.row, default: []].insert(attributes) }
        lastCharacter = character
        surface.isAtEdge = surface.column + width == columns
        surface.column = min(surface.column + width, columns - 1)
    }

    /// The cells of a scalar, by the widest blocks of EastAsianWidth.txt.
    private static func width(_ character: String) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    // MARK: Controls

    private mutating func control(_ byte: UInt8) {
        switch byte {
        case 0x07, 0x0E, 0x0F, 0x00: break
        case 0x08: move(surface.row, surface.column - 1)
        case 0x09: move(surface.row, (surface.column / 8 + 1) * 8)
        case 0x0A, 0x0B, 0x0C:
            surface.isAtEdge = false
            lineFeed()
        case 0x0D: move(surface.row, 0)
        case 0x1B: state = .escape
        default: unknown.append("control \(byte)")
        }
    }

    private mutating func escape(_ byte: UInt8) {
        state = .text
        switch UnicodeScalar(byte) {
        case "[": state = .control([])
        case "(", ")": state = .characterSet
        case "7": saved = (surface.row, surface.column)
        case "8": move(saved.row, saved.column)
        case "=": sendsApplicationKeys = true
        case ">": sendsApplicationKeys = false
        case "M": if surface.row == region.lowerBound { scroll(-1) } else { move(surface.row - 1, surface.column) }
        default: unknown.append("ESC \(UnicodeScalar(byte))")
        }
    }

    private mutating func move(_ row: Int, _ column: Int) {
        surface.row = min(max(row, 0), rows - 1)
        surface.column = min(max(column, 0), columns - 1)
        surface.isAtEdge = false
    }

    private mutating func lineFeed() {
        if surface.row == region.upperBound { scroll(1) } else { surface.row = min(surface.row + 1, rows - 1) }
    }

    /// Moves the lines of the region up, or down where negative.
    private mutating func scroll(_ count: Int, from top: Int? = nil) {
        let top = top ?? region.lowerBound
        let blank = Row(repeating: " ", count: columns)
        for _ in 0..<min(abs(count), region.upperBound - top + 1) {
            if count > 0 {
                surface.rows.remove(at: top)
                surface.rows.insert(blank, at: region.upperBound)
            } else {
                surface.rows.remove(at: region.upperBound)
                surface.rows.insert(blank, at: top)
            }
        }
    }

    private mutating func erase(_ range: Range<Int>, row: Int) {
        for column in range.clamped(to: 0..<columns) { surface.rows[row][column] = " " }
    }

    /// A control sequence (CSI).
    private mutating func sequence(_ text: String, _ final: UInt8) {
        if text.hasPrefix("?") { return setModes(text, final) }
        let parameters = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        func number(_ index: Int, _ standard: Int = 1) -> Int {
            parameters.indices.contains(index) ? parameters[index] ?? standard : standard
        }
        let count = max(number(0), 1)
        let (row, column) = (surface.row, surface.column)
        switch UnicodeScalar(final) {
        case "A": move(row - count, column)
        case "B": move(row + count, column)
        case "C": move(row, column + count)
        case "D": move(row, column - count)
        case "G": move(row, count - 1)
        case "d": move(count - 1, column)
        case "H", "f": move(count - 1, max(number(1), 1) - 1)
        case "J": eraseScreen(number(0, 0))
        case "K":
            let kind = number(0, 0)
            erase((kind == 0 ? column : 0)..<(kind == 1 ? column + 1 : columns), row: row)
        case "X": erase(column..<(column + count), row: row)
        case "P", "@": shift(UnicodeScalar(final) == "P" ? count : -count)
        case "L": scroll(-count, from: row)
        case "M": scroll(count, from: row)
        case "S": scroll(count)
        case "T": scroll(-count)
        case "b": for _ in 0..<count { put(lastCharacter) }
        case "r":
            let last = min(number(1, rows), rows) - 1
            region = (count - 1)...max(last, count - 1)
            move(0, 0)
        case "m": attributes = text.isEmpty || text == "0" ? "" : text
        // Insert mode, and window titles put away and brought back, which have no look.
        case "l" where text == "4": break
        case "t" where text.hasPrefix("22;") || text.hasPrefix("23;"): break
        default: unknown.append("CSI \(text)\(UnicodeScalar(final))")
        }
    }

    /// Takes characters out at the cursor, or puts blanks in where negative.
    private mutating func shift(_ count: Int) {
        let column = surface.column
        var line = surface.rows[surface.row]
        let blanks = Row(repeating: " ", count: min(abs(count), columns - column))
        if count > 0 {
            line.removeSubrange(column..<(column + blanks.count))
            line += blanks
        } else {
            line.insert(contentsOf: blanks, at: column)
            line.removeLast(blanks.count)
        }
        surface.rows[surface.row] = line
    }

    private mutating func eraseScreen(_ kind: Int) {
        for row in 0..<rows {
            if kind == 2 || (kind == 0 && row > surface.row) || (kind == 1 && row < surface.row) {
                erase(0..<columns, row: row)
            }
        }
        if kind == 0 { erase(surface.column..<columns, row: surface.row) }
        if kind == 1 { erase(0..<(surface.column + 1), row: surface.row) }
    }

    private mutating func setModes(_ text: String, _ final: UInt8) {
        for mode in text.dropFirst().split(separator: ";").map({ "?" + $0 }) {
            switch (mode, UnicodeScalar(final)) {
            case ("?1049", "h"):
                if usual == nil {
                    usual = surface
                    surface.rows = Self.blank(columns, rows)
                }
            case ("?1049", "l"):
                if let former = usual { surface = former }
                usual = nil
            case ("?1", "h"), ("?7", "h"), ("?12", "h"), ("?25", "h"), ("?1034", "h"): modes.insert(mode)
            case ("?1", "l"), ("?7", "l"), ("?12", "l"), ("?25", "l"), ("?1034", "l"): modes.remove(mode)
            default: unknown.append("CSI \(mode)\(UnicodeScalar(final))")
            }
        }
    }
}
