/// Text set in lines.
enum TextWrap {
    /// The fewest cells in which a text is read easily beside its term.
    private static let leastRoom = 20

    /// The paragraphs of a text (separated by empty lines) in lines of at most `width` cells; a line that starts with a
    /// space stays as it is.
    static func lines(_ text: String, width: Int, indent: Int = 0) -> [String] {
        let margin = String(repeating: " ", count: indent)
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            if line.isEmpty { return [""] }
            if line.hasPrefix(" ") { return [margin + line] }
            return paragraph(line, width: width - indent).map { margin + $0 }
        }
    }

    /// A text in lines of at most `width` cells, the first of at most `first`, broken between words. A word that is wider
    /// is not broken: it may be a path.
    static func paragraph(_ text: some StringProtocol, width: Int, first: Int? = nil) -> [String] {
        var lines: [String] = []
        var current = ""
        for word in text.split(separator: " ") {
            let room = lines.isEmpty ? first ?? width : width
            if current.isEmpty {
                current = String(word)
            } else if DisplayWidth.of(current) + 1 + DisplayWidth.of(String(word)) <= room {
                current += " " + word
            } else {
                lines.append(current)
                current = String(word)
            }
        }
        return current.isEmpty ? lines : lines + [current]
    }

    /// A text in lines of at most `width` cells (at least 2): longer words are broken.
    static func cells(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var current = ""
        var used = 0
        func end() {
            lines.append(current)
            (current, used) = ("", 0)
        }
        for word in text.split(separator: " ") {
            let needed = DisplayWidth.of(String(word))
            if used > 0, used + 1 + needed > width { end() }
            if used > 0 {
                current += " "
                used += 1
            }
            for character in word {
                let cell = DisplayWidth.of(character)
                if used + cell > width { end() }
                current.append(character)
                used += cell
            }
        }
        if used > 0 || lines.isEmpty { end() }
        return lines
    }

    /// Terms on the left, their texts on the right; a term that is too long has its text on the next line. Where there is
    /// little room on the right each text stands below its term.
    ///
    /// - Parameter column: where the texts begin; nil for two cells behind the longest term.
    static func definitions(
        _ entries: [(term: String, text: String)], width: Int, indent: Int = 2, most: Int = 28, column: Int? = nil
    ) -> [String] {
        let fitting = entries.map { DisplayWidth.of($0.term) }.filter { $0 <= most }
        let usual = column ?? indent + (fitting.max() ?? most) + 2
        let isNarrow = width - usual < leastRoom
        let column = isNarrow ? indent + 2 : usual
        let margin = String(repeating: " ", count: indent)
        return entries.flatMap { entry -> [String] in
            let texts = lines(entry.text, width: width, indent: column)
            let used = indent + DisplayWidth.of(entry.term)
            guard !isNarrow, used + 2 <= column, let first = texts.first else {
                // A flag with a long value stays whole.
                let broken = paragraph(entry.term, width: width - indent)
                let fits = broken.allSatisfy { DisplayWidth.of($0) <= width - indent }
                return (fits ? broken : [entry.term]).map { margin + $0 } + texts
            }
            return [margin + entry.term + String(repeating: " ", count: column - used) + first.dropFirst(column)]
                + texts.dropFirst()
        }
    }
}
