import HubCore

/// The first meaningful paragraph of a README, as plain text.
///
/// Removes the Markdown and HTML that cards use. The input is untrusted: the work is linear, and the result is one line
/// without control characters or direction marks.
package enum CardSummary {
    /// Bytes of a README that are read. Some cards begin with long tables of badges.
    package static let readLimit = 64 << 10
    /// Maximum characters of a summary.
    package static let lengthLimit = 500
    /// Maximum characters read of a paragraph.
    private static let paragraphLimit = 4000

    /// nil if it is not text or has no meaningful paragraph.
    package static func text(of readme: [UInt8]) -> String? {
        let bytes = readme.prefix(readLimit)
        guard !bytes.contains(0), let body = body(of: String(decoding: bytes, as: UTF8.self)) else { return nil }
        for paragraph in paragraphs(of: CardMarkup.withoutHTML(body)) {
            var inline = CardMarkup(paragraph.prefix(paragraphLimit))
            let text = plain(inline.text())
            // A row of links is not meaningful text.
            if saysSomething(text), inline.linkedLetters * 2 <= text.count(where: \.isLetter) {
                return shortened(text)
            }
        }
        return nil
    }

    /// The text after the front matter; nil if that does not end.
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

    /// Text that is not a heading, list, quotation, table, code or rule.
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
                // The lines above it are a heading; without any it is a rule.
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

    /// A table row, a quotation or a link definition.
    private static func isAside(_ line: Substring) -> Bool {
        guard let first = line.first else { return false }
        return first == "|" || first == ">" || (first == "[" && line.contains("]:"))
    }

    // MARK: Text

    /// At least three words, or enough letters in scripts without spaces; not a placeholder of the Hub's card template.
    private static func saysSomething(_ text: String) -> Bool {
        if text.lowercased().contains("more information needed") { return false }
        let words = text.split(separator: " ").filter { $0.contains(where: \.isLetter) }
        return words.count >= 3
            || text.count(where: \.isLetter) >= 12
                && text.unicodeScalars.contains { (0x2E80...0xD7FF).contains($0.value) }
    }

    /// On one line, without control characters.
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

    /// At most ``lengthLimit`` characters, cut between words if possible.
    private static func shortened(_ text: String) -> String {
        guard text.count > lengthLimit else { return bounded(text) }
        let head = text.prefix(lengthLimit - 4)
        let cut = head.lastIndex(of: " ").map { head[..<$0] } ?? head
        return bounded(String(cut) + " ...")
    }

    /// A character can have any number of combining marks; eight bytes each are enough.
    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > lengthLimit * 8 else { return text }
        return String(decoding: text.utf8.prefix(lengthLimit * 8), as: UTF8.self).filter { $0 != "\u{FFFD}" }
    }
}
