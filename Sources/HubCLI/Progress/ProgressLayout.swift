import HubCore

/// The texts of progress for a given width: pure, so that tests compare them exactly.
struct ProgressLayout: Sendable {
    /// Whether the terminal can be expected to show more than ASCII.
    var isUnicode = true

    private var ellipsis: String { isUnicode ? "…" : "~" }
    private static let gap = "  "
    private static let leastTitle = 8
    private static let leastBar = 6
    private static let mostBar = 30

    /// The rows of the bar: one for the whole, one for each file under way, as many as `height` allows.
    ///
    /// The last column stays free: a character there makes some terminals wrap at once.
    func rows(_ snapshot: ProgressSnapshot, width: Int, height: Int) -> [String] {
        let room = max(1, width - 1)
        var rows = [whole(snapshot, room)]
        let files = snapshot.active
        // Two rows stay free for what is written above, one says how many are not shown.
        let most = max(0, height - 3)
        for file in files.prefix(files.count > most ? max(0, most - 1) : most) { rows.append(self.file(file, room)) }
        let hidden = files.count - (rows.count - 1)
        if hidden > 0, most > 0 { rows.append(cut("  and \(hidden) more", room)) }
        return rows
    }

    /// One line for a log: at most one of these a second.
    func plain(_ snapshot: ProgressSnapshot) -> String {
        var parts: [String] = []
        if let fraction = snapshot.fraction, let total = snapshot.totalBytes {
            parts.append("\(percent(fraction)) of \(ByteCount(total))")
        } else {
            parts.append("\(ByteCount(snapshot.doneBytes))")
        }
        if let total = snapshot.filesTotal { parts.append("\(snapshot.filesDone)/\(total) files") }
        if let rate = snapshot.bytesPerSecond { parts.append(Humanize.rate(rate)) }
        if let left = snapshot.secondsLeft { parts.append("\(Humanize.duration(left)) left") }
        if let phase = snapshot.phase { parts.append(phase) }
        return "\(snapshot.title): \(parts.joined(separator: ", "))"
    }

    private func whole(_ snapshot: ProgressSnapshot, _ room: Int) -> String {
        // In the order of the line, each with the rank in which it is dropped for want of room: the highest first.
        var facts: [(rank: Int, text: String)] = []
        if let fraction = snapshot.fraction { facts.append((0, percent(fraction))) }
        if let phase = snapshot.phase { facts.append((1, SafeText.line(phase))) }
        let done = ByteCount(snapshot.doneBytes)
        facts.append((snapshot.totalBytes == nil ? 0 : 4, snapshot.totalBytes.map { "\(done)/\(ByteCount($0))" } ?? "\(done)"))
        if let rate = snapshot.bytesPerSecond { facts.append((3, Humanize.rate(rate))) }
        if let left = snapshot.secondsLeft { facts.append((2, "\(Humanize.duration(left)) left")) }
        if let total = snapshot.filesTotal { facts.append((5, "\(snapshot.filesDone)/\(total) files")) }
        return line(snapshot.title, snapshot.fraction, facts, room, .end)
    }

    private func file(_ file: ProgressSnapshot.File, _ room: Int) -> String {
        let done = ByteCount(file.done)
        guard let total = file.total else { return line("  " + file.name, nil, [(0, "\(done)")], room, .middle) }
        let fraction = total == 0 ? 1 : min(1, max(0, Double(file.done) / Double(total)))
        return line(
            "  " + file.name, fraction, [(0, percent(fraction)), (4, "\(done)/\(ByteCount(total))")], room, .middle)
    }

    private func line(
        _ title: String, _ fraction: Double?, _ all: [(rank: Int, text: String)], _ room: Int, _ cut: Truncation
    ) -> String {
        let title = SafeText.line(title)
        let natural = DisplayWidth.of(title)
        let least = min(natural, ProgressLayout.leastTitle)
        var facts = all
        func factWidth() -> Int { facts.reduce(0) { $0 + ProgressLayout.gap.count + DisplayWidth.of($1.text) } }
        var hasBar = fraction != nil
        func needed() -> Int { least + (hasBar ? ProgressLayout.gap.count + ProgressLayout.leastBar : 0) + factWidth() }
        // The bar itself goes after the last dispensable fact but before the percentage.
        while needed() > room, let worst = facts.indices.max(by: { facts[$0].rank < facts[$1].rank }),
            facts[worst].rank > 0
        {
            facts.remove(at: worst)
        }
        if needed() > room { hasBar = false }
        var spare = room - factWidth()
        var bar = ""
        if hasBar, let fraction {
            // The title takes what it needs up to half of the room, the bar what is left up to its most.
            let forTitle = max(least, min(natural, spare / 2))
            let width = min(ProgressLayout.mostBar, spare - forTitle - ProgressLayout.gap.count)
            bar = ProgressLayout.gap + self.bar(fraction, max(ProgressLayout.leastBar, width))
            spare -= DisplayWidth.of(bar)
        }
        let shown = DisplayWidth.fit(title, max(0, spare), cut, ellipsis: ellipsis)
        let text = shown + bar + facts.map { ProgressLayout.gap + $0.text }.joined()
        return self.cut(text, room)
    }

    private func bar(_ fraction: Double, _ width: Int) -> String {
        // Only what is complete shows as complete.
        let filled = min(width, Int(fraction * Double(width)))
        return String(repeating: isUnicode ? "━" : "=", count: filled)
            + String(repeating: isUnicode ? "╌" : "-", count: width - filled)
    }

    private func percent(_ fraction: Double) -> String {
        let text = "\(Int(fraction * 100))%"
        return String(repeating: " ", count: max(0, 4 - text.count)) + text
    }

    private func cut(_ text: String, _ room: Int) -> String { DisplayWidth.fit(text, room, ellipsis: ellipsis) }
}
