import HubCore

/// The first paragraph of a README that says something, as plain text: what a person reads to learn what a model is.
///
/// Markdown and HTML are taken off as far as cards use them, and anything may be in there: the work is proportional to the
/// length, and the text has no control characters, no marks of direction, and one line.
package enum CardSummary {
    /// Bytes of a README that are looked at. Some cards begin with long tables of badges.
    package static let readLimit = 64 << 10
    /// Characters of a summary at most.
    package static let lengthLimit = 500
    /// Characters of a paragraph that are looked at.
    private static let paragraphLimit = 4000

    /// nil where it is not text or no paragraph of it says anything.
    package static func text(of readme: [UInt8]) -> String? {
        let bytes = readme.prefix(readLimit)
        guard !bytes.contains(0), let body = body(of: String(decoding: bytes, as: UTF8.self)) else { return nil }
        for paragraph in paragraphs(of: CardMarkup.withoutHTML(body)) {
            var inline = CardMarkup(paragraph.prefix(paragraphLimit))
            let text = plain(inline.text())
            // A row of links leads somewhere and says nothing.
            if saysSomething(text), inline.linkedLetters * 2 <= text.count(where: \.isLetter) {
                return shortened(text)
            }
        }
        return nil
    }

    /// What follows the front matter; nil where that does not end.
    private static func body(of text: String) -> [Substring]? {
        // "\r\n" is one Character, so lines are split by isNewline and not by "\n".
        var lines = text.drop { $0 == "\u{FEFF}" || $0.isNewline }
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...]
        func isFence(_ line: Substring) -> Bool { line.hasPrefix("---") && line.allSatisfy { "- \t".contains($0) } }
        if let first = lines.first, isFence(first) {
            guard let end = lines.dropFirst().firstIndex(where: isFence) else { return nil }
            lines = lines[(end + 1)...]
        }
        return Array(lines)
    }

    // MARK: Paragraphs

    /// What is neither heading, list, quotation, table, code nor rule.
    private static func paragraphs(of text: String) -> [String] {
        var found: [String] = []
        var lines: [Substring] = []
        var isInList = false
        func close() {
            if !lines.isEmpty { found.append(lines.joined(separator: " ")) }
            lines = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.drop { $0 == " " || $0 == "\t" }
            if words.isEmpty {
                close()
                isInList = false
            } else if isUnderline(words) {
                // What stands above it was a heading; without that, it is a rule.
                lines = []
            } else if words.hasPrefix("#") {
                close()
            } else if isItem(words) {
                close()
                isInList = true
            } else if !isInList, !isAside(words), !(lines.isEmpty && line.hasPrefix("    ")) {
                lines.append(words)
            }
        }
        close()
        return found
    }

    private static func isUnderline(_ line: Substring) -> Bool {
        guard let mark = line.first, "=-_*".contains(mark), line.utf8.count >= 2 else { return false }
        return line.allSatisfy { $0 == mark || $0 == " " }
    }

    private static func isItem(_ line: Substring) -> Bool {
        if ["- ", "* ", "+ "].contains(where: line.hasPrefix) { return true }
        let rest = line.drop(while: \.isNumber)
        return rest.startIndex != line.startIndex && (rest.hasPrefix(". ") || rest.hasPrefix(") "))
    }

    /// A row of a table, a quotation, the definition of a link.
    private static func isAside(_ line: Substring) -> Bool {
        guard let first = line.first else { return false }
        return first == "|" || first == ">" || (first == "[" && line.contains("]:"))
    }

    // MARK: Text

    /// Three words, or as many letters as three words have where words are not set apart; not what the Hub's template for
    /// cards has in place of words.
    private static func saysSomething(_ text: String) -> Bool {
        if text.lowercased().contains("more information needed") { return false }
        let words = text.split(separator: " ").filter { $0.contains(where: \.isLetter) }
        return words.count >= 3
            || text.count(where: \.isLetter) >= 12
                && text.unicodeScalars.contains { (0x2E80...0xD7FF).contains($0.value) }
    }

    /// On one line, without what drives a terminal.
    private static func plain(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x20, 0xA0, 0x2028, 0x2029: if out.last != " " { out.append(" ") }
            case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFFD:
                continue
            default: out.append(scalar)
            }
        }
        while out.last == " " { out.removeLast() }
        if out.first == " " { out.removeFirst() }
        return String(out)
    }

    /// At most ``lengthLimit``, cut between words where there are any.
    private static func shortened(_ text: String) -> String {
        guard text.count > lengthLimit else { return bounded(text) }
        let head = text.prefix(lengthLimit - 4)
        let cut = head.lastIndex(of: " ").map { head[..<$0] } ?? head
        return bounded(String(cut) + " ...")
    }

    /// A character may have any number of marks; eight bytes each are plenty.
    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > lengthLimit * 8 else { return text }
        return String(decoding: text.utf8.prefix(lengthLimit * 8), as: UTF8.self).filter { $0 != "\u{FFFD}" }
    }
}
