import Fetcher
import HubCore

/// The text of an HTML page: paragraphs, headings, lists and tables as lines, links with their addresses; no scripts, no
/// styles. Tags are read as browsers read them, whatever is missing. https://html.spec.whatwg.org/multipage/parsing.html
struct HTMLText {
    private(set) var title: String?
    private(set) var text = ""

    private let base: String
    private var bytes: ArraySlice<UInt8>
    /// The element whose content is left out, until its end.
    private var skipped: String?
    private var isPreformatted = 0
    private var hasSpace = false
    /// Characters so far that are not blanks.
    private var inked = 0
    private var links: [(address: String, inked: Int)] = []

    /// Elements that begin and end a line.
    private static let blocks: Set<String> = [
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption",
        "figure",
        "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "legend", "li", "main", "nav", "ol",
        "option", "p", "pre", "section", "summary", "table", "tr", "ul", "body",
    ]
    /// Elements that stand apart by an empty line.
    private static let apart: Set<String> = [
        "p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "dl", "blockquote", "pre", "article",
        "section",
    ]
    private static let unseen: Set<String> = ["noscript", "template", "svg", "math", "object", "select"]
    /// Elements whose content has no tags: it ends at their own end tag alone.
    private static let raw: Set<String> = ["script", "style", "iframe", "textarea", "noframes", "title"]

    init(_ html: String, base: String) {
        self.base = base
        let all = Array(html.utf8)
        bytes = all[...]
        read()
        text = Self.tidy(text)
    }

    private mutating func read() {
        while let byte = bytes.first {
            guard byte == UInt8(ascii: "<") else {
                let run = bytes.prefix { $0 != UInt8(ascii: "<") }
                bytes = bytes.dropFirst(run.count)
                add(String(decoding: run, as: UTF8.self))
                continue
            }
            if starts("<!--") {
                skip(past: "-->")
            } else if let next = bytes.dropFirst().first, Self.isLetter(next) || next == UInt8(ascii: "/") {
                readTag()
            } else if starts("<!") || starts("<?") {
                skip(past: ">")
            } else {
                bytes = bytes.dropFirst()
                add("<")
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
    private func starts(_ text: String) -> Bool { bytes.starts(with: text.utf8) }

    private mutating func skip(past end: String) {
        let mark = Array(end.utf8)
        while !bytes.isEmpty, !bytes.starts(with: mark) { bytes = bytes.dropFirst() }
        bytes = bytes.dropFirst(mark.count)
    }

    // MARK: Tags

    private mutating func readTag() {
        bytes = bytes.dropFirst()
        let isEnd = bytes.first == UInt8(ascii: "/")
        if isEnd { bytes = bytes.dropFirst() }
        let name = readName()
        let attributes = readAttributes()
        if !isEnd, Self.raw.contains(name) {
            let content = takeRaw(name)
            if name == "title", title == nil, skipped == nil {
                title = Self.line(HTMLEntities.decoded(String(decoding: content, as: UTF8.self)))
                    .map { WebText.cut($0, to: WebText.titleLength) }
            }
            return
        }
        if let skipped {
            if isEnd, name == skipped { self.skipped = nil }
            return
        }
        isEnd ? end(name) : begin(name, attributes)
    }

    /// Everything before an element's end tag, or before the page's end.
    private mutating func takeRaw(_ name: String) -> ArraySlice<UInt8> {
        let content = bytes
        let end = Array("</\(name)".utf8)
        while let mark = bytes.firstIndex(of: UInt8(ascii: "<")) {
            bytes = bytes[mark...]
            let isEnd = bytes.count >= end.count && zip(bytes, end).allSatisfy { $0 | 0x20 == $1 | 0x20 }
            if isEnd, bytes.dropFirst(end.count).first.map(Self.endsName) ?? true {
                return content[..<bytes.startIndex]
            }
            bytes = bytes.dropFirst()
        }
        bytes = bytes[bytes.endIndex...]
        return content
    }

    private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || "/>=".utf8.contains(byte) }

    private mutating func readName() -> String {
        let name = bytes.prefix { !Self.endsName($0) }
        bytes = bytes.dropFirst(name.count)
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    private mutating func readAttributes() -> [String: String] {
        var attributes: [String: String] = [:]
        while let byte = bytes.first {
            if byte == UInt8(ascii: ">") {
                bytes = bytes.dropFirst()
                break
            }
            guard !Self.endsName(byte) else {
                bytes = bytes.dropFirst()
                continue
            }
            let name = readName()
            bytes = bytes.drop { $0 <= 0x20 }
            guard bytes.first == UInt8(ascii: "=") else { continue }
            bytes = bytes.dropFirst().drop { $0 <= 0x20 }
            let value = readValue()
            if attributes[name] == nil { attributes[name] = HTMLEntities.decoded(value) }
        }
        return attributes
    }

    private mutating func readValue() -> String {
        guard let quote = bytes.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            let value = bytes.prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") }
            bytes = bytes.dropFirst(value.count)
            return String(decoding: value, as: UTF8.self)
        }
        let value = bytes.dropFirst().prefix { $0 != quote }
        bytes = bytes.dropFirst(value.count + 2)
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func begin(_ name: String, _ attributes: [String: String]) {
        if Self.unseen.contains(name) { return skipped = name }
        if Self.blocks.contains(name) { breakLine(apart: Self.apart.contains(name)) }
        switch name {
        case "li": text += "- "
        case "h1", "h2", "h3", "h4", "h5", "h6":
            text += String(repeating: "#", count: Int(name.dropFirst()) ?? 1) + " "
        case "td", "th": if !text.isEmpty, !text.hasSuffix("\n") { text += " | " }
        case "pre": isPreformatted += 1
        case "img":
            if let alt = attributes["alt"], alt.contains(where: { !$0.isWhitespace }) { add(alt, isDecoded: true) }
        case "a":
            links.append((attributes["href"] ?? "", inked))
        default: break
        }
    }

    private mutating func end(_ name: String) {
        switch name {
        case "pre": isPreformatted = max(0, isPreformatted - 1)
        case "a": endLink()
        default: break
        }
        if Self.blocks.contains(name) { breakLine(apart: Self.apart.contains(name)) }
    }

    /// Puts a link's address behind its text, if it leads somewhere.
    private mutating func endLink() {
        guard let link = links.popLast(), !link.address.isEmpty, !link.address.hasPrefix("#"),
            inked > link.inked,
            let whole = SafeAddress.resolve(link.address, against: base), Origin(whole) != nil
        else { return }
        text += " (\(whole))"
    }

    // MARK: Text

    private mutating func add(_ content: String, isDecoded: Bool = false) {
        guard skipped == nil else { return }
        let content = isDecoded ? content : HTMLEntities.decoded(content)
        guard isPreformatted == 0 else {
            text += content
            inked += content.reduce(0) { $0 + ($1.isWhitespace ? 0 : 1) }
            return
        }
        for character in content {
            if character.isWhitespace {
                hasSpace = true
            } else {
                if hasSpace, !text.isEmpty, text.last?.isWhitespace == false { text.append(" ") }
                hasSpace = false
                text.append(character)
                inked += 1
            }
        }
    }

    private mutating func breakLine(apart: Bool) {
        hasSpace = false
        guard !text.isEmpty else { return }
        text += apart ? "\n\n" : text.hasSuffix("\n") ? "" : "\n"
    }

    private static func line(_ text: String) -> String? {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    /// Without blanks at ends of lines and more than one empty line.
    private static func tidy(_ text: String) -> String {
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = line
            while line.last?.isWhitespace == true { line.removeLast() }
            if line.isEmpty, lines.last?.isEmpty ?? true { continue }
            lines.append(line == "-" ? "" : line)
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n")
    }
}

/// Characters that HTML writes as names and numbers.
enum HTMLEntities {
    /// The names that texts use; others stay as they are.
    private static let names: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "shy": "", "copy": "©",
        "reg": "®",
        "trade": "™", "hellip": "…", "mdash": "—", "ndash": "–", "lsquo": "‘", "rsquo": "’", "ldquo": "“",
        "rdquo": "”",
        "laquo": "«", "raquo": "»", "bull": "•", "middot": "·", "deg": "°", "plusmn": "±", "times": "×",
        "divide": "÷",
        "euro": "€", "pound": "£", "yen": "¥", "cent": "¢", "sect": "§", "para": "¶", "larr": "←", "rarr": "→",
        "uarr": "↑", "darr": "↓", "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü",
        "szlig": "ß", "eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç", "ntilde": "ñ", "aacute": "á",
        "iacute": "í", "oacute": "ó", "uacute": "ú", "ecirc": "ê", "acirc": "â", "ocirc": "ô", "aring": "å",
        "aelig": "æ", "oslash": "ø", "zwnj": "", "zwj": "", "thinsp": " ", "ensp": " ", "emsp": " ", "minus": "−",
        "le": "≤", "ge": "≥", "ne": "≠", "infin": "∞",
    ]

    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var out = ""
        var rest = Substring(text)
        while let mark = rest.firstIndex(of: "&") {
            out += rest[..<mark]
            rest = rest[mark...]
            let name = rest.dropFirst().prefix(32).prefix { $0 != ";" && !$0.isWhitespace && $0 != "&" }
            let end = rest.index(mark, offsetBy: name.count + 1)
            guard end < rest.endIndex, rest[end] == ";", let value = value(name) else {
                out.append("&")
                rest = rest.dropFirst()
                continue
            }
            out += value
            rest = rest[rest.index(after: end)...]
        }
        return out + rest
    }

    private static func value(_ name: Substring) -> String? {
        guard name.hasPrefix("#") else { return names[String(name)] }
        let digits = name.dropFirst()
        let number =
            digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let number, number != 0, let scalar = Unicode.Scalar(number) else { return "\u{FFFD}" }
        return String(Character(scalar))
    }
}
