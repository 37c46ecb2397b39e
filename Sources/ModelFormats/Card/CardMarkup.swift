import HubCore

/// The words of one Markdown paragraph, without markup. https://spec.commonmark.org/0.31.2/#inlines
struct CardMarkup {
    private let characters: [Character]
    private var at = 0
    private let depth: Int
    /// Number of letters in link texts.
    private(set) var linkedLetters = 0

    /// Maximum characters between brackets, and between parentheses.
    private static let (bracketLimit, addressLimit) = (300, 1000)

    init(_ text: some StringProtocol) { self.init(Array(text), depth: 0) }

    private init(_ characters: [Character], depth: Int) {
        self.characters = characters
        self.depth = depth
    }

    mutating func text() -> String {
        var out = ""
        while at < characters.count {
            let character = characters[at]
            if character == "\\", next?.isPunctuation == true || next?.isSymbol == true {
                out.append(characters[at + 1])
                at += 2
            } else if character == "!", next == "[", let image = link(from: at + 1) {
                at = image.end
            } else if character == "[", let link = link(from: at) {
                out += words(of: link.words)
                at = link.end
            } else if character == "&" {
                let (text, end) = CardEntity.decode(characters, from: at)
                out += text
                at = end
            } else {
                if !isMark(character) { out.append(character) }
                at += 1
            }
        }
        return out
    }

    private var next: Character? { at + 1 < characters.count ? characters[at + 1] : nil }

    /// Whether a character is emphasis or code, and not plain text as in `snake_case` and `2 * 3`.
    private func isMark(_ character: Character) -> Bool {
        guard "`*_~".contains(character) else { return false }
        if character == "`" { return true }
        let before = at > 0 ? characters[at - 1] : " "
        let after = next ?? " "
        if character == "~" { return before == "~" || after == "~" }
        if before == " ", after == " " { return false }
        let isInWord = (before.isLetter || before.isNumber) && (after.isLetter || after.isNumber)
        return character == "*" || !isInWord
    }

    private mutating func words(of range: Range<Int>) -> String {
        guard depth < 2 else { return String(characters[range]) }
        var inner = CardMarkup(Array(characters[range]), depth: depth + 1)
        let text = inner.text()
        linkedLetters += text.count(where: \.isLetter)
        return text
    }

    /// A link `[words](address)` or `[words][name]` that begins here; nil for a plain bracket.
    private func link(from start: Int) -> (words: Range<Int>, end: Int)? {
        guard let close = match("[", "]", from: start, Self.bracketLimit), close + 1 < characters.count else {
            return nil
        }
        let end: Int? =
            switch characters[close + 1] {
            case "(": match("(", ")", from: close + 1, Self.addressLimit)
            case "[": match("[", "]", from: close + 1, Self.bracketLimit)
            default: nil
            }
        return end.map { (start + 1..<close, $0 + 1) }
    }

    /// The closing position for the opening one at `start`.
    private func match(_ open: Character, _ close: Character, from start: Int, _ limit: Int) -> Int? {
        var depth = 0
        for index in start..<min(characters.count, start + limit) {
            if characters[index] == open { depth += 1 }
            if characters[index] == close {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return nil
    }
}

extension CardMarkup {
    /// Lines without HTML and fenced code. Links become Markdown links; block elements become paragraphs.
    static func withoutHTML(_ lines: [Substring]) -> String {
        var kept: [Substring] = []
        var fence: Substring?
        for line in lines {
            let words = line.drop { $0 == " " }
            if let open = fence {
                if words.hasPrefix(open) { fence = nil }
            } else if words.hasPrefix("```") || words.hasPrefix("~~~") {
                fence = words.prefix(3)
                kept.append("")
            } else {
                kept.append(line)
            }
        }
        var scanner = HTMLScanner(kept.joined(separator: "\n"))
        return scanner.text()
    }
}

/// Removes tags and comments. Not a parser: it handles what cards contain and is harmless on the rest.
private struct HTMLScanner {
    private let bytes: [UInt8]
    private var at = 0
    private var out: [UInt8] = []

    /// Elements whose content is not a paragraph of text.
    private static let skipped: Set<String> = [
        "script", "style", "svg", "table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "select", "video",
    ]
    private static let inline: Set<String> = [
        "a", "b", "i", "u", "em", "strong", "span", "code", "sup", "sub", "small", "font", "img", "mark", "kbd",
    ]
    /// Maximum bytes of a tag.
    private static let tagLimit = 4096

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func text() -> String {
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "<"), skip() { continue }
            out.append(bytes[at])
            at += 1
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Skips a comment or tag that begins here; false if none does.
    private mutating func skip() -> Bool {
        if bytes[at...].starts(with: "<!--".utf8) {
            // An unclosed comment hides the rest, as in a browser.
            at = end(of: "-->", from: at + 4) ?? bytes.count
            return true
        }
        let isClosing = at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "/")
        var name = at + (isClosing ? 2 : 1)
        let start = name
        while name < bytes.count, name - start < 16, isNamed(bytes[name]) { name += 1 }
        guard name > start, let close = closing(from: name) else { return false }
        let tag = String(decoding: bytes[start..<name], as: UTF8.self).lowercased()
        // <https://...> is its own text.
        if name < close, !" \t\n/".utf8.contains(bytes[name]) {
            out += bytes[(at + 1)..<close]
            at = close + 1
            return true
        }
        at = close + 1
        if Self.skipped.contains(tag) {
            if !isClosing {
                at = end(of: "</\(tag)", from: at).flatMap { closing(from: $0) }.map { $0 + 1 } ?? bytes.count
            }
            out += "\n\n".utf8
        } else if tag == "a" {
            out += (isClosing ? "](-)" : "[").utf8
        } else if tag == "br" {
            out.append(UInt8(ascii: " "))
        } else if !Self.inline.contains(tag) {
            out += "\n\n".utf8
        }
        return true
    }

    private func isNamed(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte)
    }

    /// The `>` that ends a tag; nil if another tag begins first.
    private func closing(from start: Int) -> Int? {
        for index in start..<min(bytes.count, start + Self.tagLimit) {
            if bytes[index] == UInt8(ascii: ">") { return index }
            if bytes[index] == UInt8(ascii: "<") { return nil }
        }
        return nil
    }

    /// The offset after the next occurrence of a text, ignoring case.
    private func end(of text: String, from start: Int) -> Int? {
        let wanted = Array(text.utf8)
        var index = start
        while index + wanted.count <= bytes.count {
            if zip(wanted, bytes[index...]).allSatisfy({
                $0 == ($1 < 0x80 && $1 >= 0x41 && $1 <= 0x5A ? $1 | 0x20 : $1)
            }) {
                return index + wanted.count
            }
            index += 1
        }
        return nil
    }
}

/// Entities such as `&amp;`. https://html.spec.whatwg.org/multipage/named-characters.html
private enum CardEntity {
    private static let named = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "ensp": " ", "emsp": " ",
        "mdash": "\u{2014}", "ndash": "\u{2013}", "hellip": "\u{2026}", "rsquo": "\u{2019}", "lsquo": "\u{2018}",
        "rdquo": "\u{201D}", "ldquo": "\u{201C}", "copy": "\u{A9}", "times": "\u{D7}", "bull": "\u{2022}",
    ]

    /// The text of an entity and its end; the `&` itself if it is not one.
    static func decode(_ characters: [Character], from start: Int) -> (text: String, end: Int) {
        let body = characters[(start + 1)...].prefix(10)
        // Browsers accept a missing semicolon, and cards rely on it.
        let name = String(body.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "#") })
        let length = start + 1 + name.count
        let end = length < characters.count && characters[length] == ";" ? length + 1 : length
        if let text = named[name] { return (text, end) }
        if name.hasPrefix("#") {
            let digits = name.dropFirst()
            let code =
                digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            if let scalar = code.flatMap(Unicode.Scalar.init) { return (String(Character(scalar)), end) }
        }
        return ("&", start + 1)
    }
}
