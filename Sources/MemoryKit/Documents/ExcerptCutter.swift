import HubCore

/// A stretch of a document.
struct Cut: Sendable, Hashable {
    var text: String
    /// Lines from 1, or pages.
    var first: Int
    var last: Int
}

/// Cuts texts into stretches that overlap, at borders that a reader would choose: before headings, at empty lines, before
/// lines that are not indented.
struct ExcerptCutter: Sendable {
    /// Bytes of a stretch at most: some 300 tokens, which models that embed read whole.
    var longest = 1200
    /// Bytes that two neighbours share at most.
    var overlap = 200

    /// The stretches of a text, their lines counted from `line`.
    func cuts(_ text: String, line: Int = 1) -> [Cut] {
        let units = units(text, line)
        var cuts: [Cut] = []
        var start = 0
        while start < units.count {
            let end = end(of: start, units)
            let stretch = units[start..<end]
            let joined = stretch.map(\.text).joined()
            if joined.contains(where: { !$0.isWhitespace }) {
                let lines = stretch.filter { $0.text.contains { !$0.isWhitespace } }
                cuts.append(
                    Cut(text: trimmed(joined), first: lines.first?.line ?? 1, last: lines.last?.line ?? 1))
            }
            guard end < units.count else { break }
            start = max(start + 1, overlapStart(before: end, after: start, units))
        }
        return cuts
    }

    /// The stretches of a document's pages, counted by pages.
    func cuts(pages: [String]) -> [Cut] {
        pages.enumerated().flatMap { index, page in
            cuts(page).map { Cut(text: $0.text, first: index + 1, last: index + 1) }
        }
    }

    /// A line with its end, or a piece of a long one.
    private struct Unit {
        var text: Substring
        var line: Int
        var bytes: Int
        /// How good a border is before it, 0 to 3.
        var border: Int
    }

    private func units(_ text: String, _ first: Int) -> [Unit] {
        var units: [Unit] = []
        var line = first
        var isAfterEmpty = true
        var rest = Substring(text)
        while !rest.isEmpty {
            let end = rest.firstIndex(where: \.isNewline).map { rest.index(after: $0) } ?? rest.endIndex
            let whole = rest[..<end]
            rest = rest[end...]
            let isEmpty = whole.allSatisfy(\.isWhitespace)
            var border = 0
            if whole.hasPrefix("#") {
                border = 3
            } else if isAfterEmpty {
                border = 2
            } else if let start = whole.first {
                border = start.isWhitespace || "})]".contains(start) ? 0 : 1
            }
            for piece in pieces(of: whole) {
                units.append(Unit(text: piece, line: line, bytes: piece.utf8.count, border: border))
                border = 0
            }
            isAfterEmpty = isEmpty
            line += 1
        }
        return units
    }

    /// A line in pieces that fit, broken behind sentences or words.
    private func pieces(of line: Substring) -> [Substring] {
        var pieces: [Substring] = []
        var rest = line
        while rest.utf8.count > longest {
            let most = rest.utf8.index(rest.startIndex, offsetBy: longest)
            // Within a character there is no border.
            var end = rest.startIndex
            var (sentence, word) = (rest.startIndex, rest.startIndex)
            while end < most {
                let next = rest.index(after: end)
                guard next <= most else { break }
                if rest[end].isWhitespace {
                    word = next
                    if end > rest.startIndex, ".!?。".contains(rest[rest.index(before: end)]) { sentence = next }
                }
                end = next
            }
            let half = rest.utf8.index(rest.startIndex, offsetBy: longest / 2)
            var border = sentence > half ? sentence : word > half ? word : end
            // One character of many scalars.
            if border == rest.startIndex { border = rest.index(after: rest.startIndex) }
            pieces.append(rest[..<border])
            rest = rest[border...]
        }
        if !rest.isEmpty { pieces.append(rest) }
        return pieces
    }

    /// Where a stretch ends: at the best border in its second half, the last of equally good ones.
    private func end(of start: Int, _ units: [Unit]) -> Int {
        var bytes = 0
        var end = start
        var best: (at: Int, border: Int)?
        while end < units.count, end == start || bytes + units[end].bytes <= longest {
            if end > start, bytes >= longest / 2, units[end].border >= best?.border ?? 0 {
                best = (end, units[end].border)
            }
            bytes += units[end].bytes
            end += 1
        }
        if end == units.count { return end }
        if units[end].border >= best?.border ?? 0 { return end }
        return best?.at ?? end
    }

    /// Where the next stretch begins: some whole lines before the end of the last.
    private func overlapStart(before end: Int, after start: Int, _ units: [Unit]) -> Int {
        // A heading begins something new.
        if units[end].border == 3 { return end }
        var at = end
        var bytes = 0
        while at - 1 > start, bytes + units[at - 1].bytes <= overlap {
            at -= 1
            bytes += units[at].bytes
        }
        return at
    }

    private func trimmed(_ text: String) -> String {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.endIndex
        // Indentation of the first line says something in code.
        let start = text.firstIndex { !$0.isNewline } ?? text.startIndex
        return start < end ? String(text[start..<end]) : ""
    }
}
