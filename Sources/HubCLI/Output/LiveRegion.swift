/// The rows of a progress bar at the bottom of a terminal, as the bytes that draw and erase them.
///
/// The cursor is never hidden and rests behind the last row: whatever kills the process, the terminal is left usable.
struct LiveRegion: Sendable {
    private var rows: [String] = []
    private var width = 0

    /// Takes the rows off the screen but remembers them for ``redraw()``.
    func erase() -> [UInt8] { Array((rows.isEmpty ? "" : home() + "\u{1B}[J").utf8) }

    /// Puts the remembered rows back.
    func redraw() -> [UInt8] { Array(rows.joined(separator: "\n").utf8) }

    /// New rows over the old ones, in one piece and each line erased only behind its text, so that nothing flickers.
    mutating func replace(with new: [String], width: Int) -> [UInt8] {
        if new.isEmpty {
            defer { rows = [] }
            return erase()
        }
        let start = rows.isEmpty ? "" : home(now: width)
        rows = new
        self.width = width
        return Array((start + new.map { $0 + "\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J").utf8)
    }

    /// To the first cell of the first row. A terminal that became narrower has wrapped the old rows.
    private func home(now: Int? = nil) -> String {
        let columns = max(1, now ?? width)
        let height = rows.reduce(0) { $0 + max(1, (DisplayWidth.of($1) + columns - 1) / columns) }
        return height > 1 ? "\r\u{1B}[\(height - 1)A" : "\r"
    }
}
