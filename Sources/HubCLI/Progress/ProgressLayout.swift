import HubCore

/// The texts of progress for a given width: pure, so that tests compare them exactly.
struct ProgressLayout: Sendable {
    /// Whether the terminal can be expected to show more than ASCII.
    var isUnicode = true

    private var ellipsis: String { isUnicode ? "…" : "~" }
    private static let leastBar = 6
    private static let mostBar = 30

    /// A row before it is fitted.
    private struct Row {
        var title: String
        /// Whether it is a file's name, which must not be taken for another one.
        var isName: Bool
        var fraction: Double?
        /// In the order of the line, each with its rank: where room is short the highest goes first, 0 never.
        var facts: [(rank: Int, text: String)]

        var factWidth: Int { facts.reduce(0) { $0 + gap.count + DisplayWidth.of($1.text) } }
    }

    /// The rows of the bar: one for the whole, one for each file under way, as many as `height` allows.
    ///
    /// The last columns stay free: the terminal writes "^C" there, and if that wrapped, the rows could not be found again.
    func rows(_ snapshot: ProgressSnapshot, width: Int, height: Int) -> [String] {
        let room = max(1, width - 3)
        // Two rows stay free for what is written above, one says how many are not shown.
        let most = max(0, height - 3)
        let files = snapshot.active
        let shown = files.prefix(files.count > most ? max(0, most - 1) : most)
        let names = FileLabels(snapshot.active)
        var rows = align([whole(snapshot)] + shown.map { row($0, names) }, room)
        let hidden = files.count - shown.count
        if hidden > 0, most > 0 { rows.append(cut("  and \(hidden) more", room)) }
        return rows
    }

    /// One line for a log: at most one of these a second.
    func plain(_ snapshot: ProgressSnapshot) -> String {
        var parts: [String] = []
        if let fraction = snapshot.fraction, let total = snapshot.totalBytes {
            parts.append("\(percent(fraction)) of \(snapshot.unit.amount(total))")
        } else {
            parts.append(snapshot.unit.amount(snapshot.doneBytes))
        }
        if let total = snapshot.filesTotal { parts.append("\(snapshot.filesDone)/\(total) files") }
        parts += snapshot.counts.map(\.text)
        if let rate = snapshot.bytesPerSecond { parts.append(snapshot.unit.rate(rate)) }
        if let left = snapshot.secondsLeft { parts.append("\(Humanize.duration(left)) left") }
        if let phase = snapshot.phase { parts.append(phase) }
        return "\(snapshot.title): \(parts.joined(separator: ", "))"
    }

    private func whole(_ snapshot: ProgressSnapshot) -> Row {
        var facts: [(rank: Int, text: String)] = []
        if let fraction = snapshot.fraction { facts.append((0, padded(fraction))) }
        if let phase = snapshot.phase { facts.append((1, SafeText.line(phase))) }
        if let total = snapshot.totalBytes {
            facts.append((4, snapshot.unit.share(snapshot.doneBytes, of: total)))
        } else {
            facts.append((0, snapshot.unit.amount(snapshot.doneBytes)))
        }
        facts += snapshot.counts.map { (5, $0.text) }
        if let rate = snapshot.bytesPerSecond { facts.append((3, snapshot.unit.rate(rate))) }
        if let left = snapshot.secondsLeft { facts.append((2, "\(Humanize.duration(left)) left")) }
        if let total = snapshot.filesTotal { facts.append((5, "\(snapshot.filesDone)/\(total) files")) }
        return Row(title: SafeText.line(snapshot.title), isName: false, fraction: snapshot.fraction, facts: facts)
    }

    private func row(_ file: ProgressSnapshot.File, _ labels: FileLabels) -> Row {
        let title = SafeText.line(labels.label(of: file))
        let done = ByteCount(file.done)
        guard let total = file.total else {
            // In place of the percentage, so that the sizes stand below each other.
            return Row(title: title, isName: true, fraction: nil, facts: [(4, "    "), (4, "\(done)")])
        }
        let fraction = total == 0 ? 1 : min(1, max(0, Double(file.done) / Double(total)))
        let facts = [(0, padded(fraction)), (4, "\(done)/\(ByteCount(total))")]
        return Row(title: title, isName: true, fraction: fraction, facts: facts)
    }

    /// Titles, bars and percentages below each other; what does not fit is dropped by its rank, the bar last.
    private func align(_ all: [Row], _ room: Int) -> [String] {
        var rows = all
        let natural = rows.map { DisplayWidth.of($0.title) + ($0.isName ? indent.count : 0) }.max() ?? 0
        let least = min(natural, room >= 60 ? 20 : 8)
        var hasBar = rows.contains { $0.fraction != nil }
        func needed(_ row: Row) -> Int {
            least + (hasBar ? gap.count + ProgressLayout.leastBar : 0) + row.factWidth
        }
        for index in rows.indices {
            while needed(rows[index]) > room,
                let worst = rows[index].facts.indices.max(by: {
                    rows[index].facts[$0].rank < rows[index].facts[$1].rank
                }),
                rows[index].facts[worst].rank > 0
            {
                rows[index].facts.remove(at: worst)
            }
        }
        if rows.contains(where: { needed($0) > room }) { hasBar = false }
        let spare = room - (rows.map(\.factWidth).max() ?? 0)
        var titleWidth = max(0, min(natural, spare))
        if hasBar {
            let free = spare - gap.count
            titleWidth = max(least, min(natural, free * 2 / 3, free - ProgressLayout.leastBar))
        }
        let barWidth = hasBar ? min(ProgressLayout.mostBar, spare - titleWidth - gap.count) : 0
        let names = FileLabels.fit(
            rows.filter(\.isName).map(\.title), max(0, titleWidth - indent.count), ellipsis: ellipsis)
        var remaining = names[...]
        return rows.map { row in
            let text = row.isName ? indent + remaining.removeFirst() : row.title
            let title = DisplayWidth.fit(text, titleWidth, ellipsis: ellipsis)
            var line = title + String(repeating: " ", count: titleWidth - DisplayWidth.of(title))
            if hasBar {
                line += gap + (row.fraction.map { bar($0, barWidth) } ?? String(repeating: " ", count: barWidth))
            }
            return cut(line + row.facts.map { gap + $0.text }.joined(), room)
        }
    }

    private func bar(_ fraction: Double, _ width: Int) -> String {
        // Only what is complete shows as complete.
        let filled = min(width, Int(fraction * Double(width)))
        return String(repeating: isUnicode ? "━" : "=", count: filled)
            + String(repeating: isUnicode ? "╌" : "-", count: width - filled)
    }

    private func percent(_ fraction: Double) -> String { "\(Int(fraction * 100))%" }

    private func padded(_ fraction: Double) -> String {
        let text = percent(fraction)
        return String(repeating: " ", count: max(0, 4 - text.count)) + text
    }

    private func cut(_ text: String, _ room: Int) -> String { DisplayWidth.fit(text, room, ellipsis: ellipsis) }
}

/// Before the names of files.
private let indent = "  "
/// Between the columns of a row.
private let gap = "  "
