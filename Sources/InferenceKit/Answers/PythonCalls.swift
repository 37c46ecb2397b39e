import HubCore

/// Reads calls that are written as in Python: `[f(key="text", other=[1, None]), g()]`.
struct PythonCalls {
    private var rest: Substring
    /// Deeper values are refused: they are read by recursion.
    private static let deepest = 64

    private init(_ text: Substring) { rest = text }

    /// The calls of a text. What cannot be read is a call all the same, with its arguments as they are written.
    static func read(_ body: String) -> [GeneratedToolCall] {
        var reader = PythonCalls(body[...])
        _ = reader.skip("[")
        var calls: [GeneratedToolCall] = []
        while true {
            reader.skipSpace()
            if reader.rest.isEmpty || reader.rest.first == "]" { break }
            let name = reader.rest.prefix { $0.isLetter || $0.isNumber || "_.-".contains($0) }
            reader.rest = reader.rest[name.endIndex...]
            guard !name.isEmpty, reader.skip("(") else {
                let text = String(name + reader.rest).trimmed
                return calls + [GeneratedToolCall(name: "", arguments: text)]
            }
            let written = reader.rest
            guard let arguments = reader.arguments() else {
                return calls + [GeneratedToolCall(name: String(name), arguments: String(written).trimmed)]
            }
            calls.append(GeneratedToolCall(name: String(name), arguments: JSON.object(arguments).text()))
            _ = reader.skip(",")
        }
        return calls.isEmpty ? [GeneratedToolCall(name: "", arguments: body)] : calls
    }

    /// `key=value, other=3)`; nil for anything else.
    private mutating func arguments() -> JSONObject? {
        var object = JSONObject()
        while true {
            if skip(")") { return object }
            skipSpace()
            let key = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
            rest = rest[key.endIndex...]
            guard !key.isEmpty, skip("="), let value = value(0) else { return nil }
            object[String(key)] = value
            guard skip(",") || rest.first == ")" else { return nil }
        }
    }

    private mutating func value(_ depth: Int) -> JSON? {
        skipSpace()
        guard depth < Self.deepest, let first = rest.first else { return nil }
        switch first {
        case "\"", "'": return text(first).map { .string($0) }
        case "[": return list("[", "]", depth).map { .array($0) }
        case "(": return list("(", ")", depth).map { .array($0) }
        case "{": return dictionary(depth).map { .object($0) }
        default:
            let word = rest.prefix { !",)]}:".contains($0) }
            rest = rest[word.endIndex...]
            switch String(word).trimmed {
            case "True", "true": return true
            case "False", "false": return false
            case "None", "null": return .null
            case let number: return (try? JSON.parse(number)).flatMap { $0.double == nil ? nil : $0 }
            }
        }
    }

    private mutating func list(_ open: Character, _ close: Character, _ depth: Int) -> [JSON]? {
        guard skip(open) else { return nil }
        var list: [JSON] = []
        while true {
            if skip(close) { return list }
            guard let value = value(depth + 1) else { return nil }
            list.append(value)
            guard skip(",") || rest.first == close else { return nil }
        }
    }

    private mutating func dictionary(_ depth: Int) -> JSONObject? {
        guard skip("{") else { return nil }
        var object = JSONObject()
        while true {
            if skip("}") { return object }
            guard case .string(let key)? = value(depth + 1), skip(":"), let value = value(depth + 1) else {
                return nil
            }
            object[key] = value
            guard skip(",") || rest.first == "}" else { return nil }
        }
    }

    /// A text between quotes. Templates write apostrophes as they are, so a quote ends it only where a value may end.
    private mutating func text(_ quote: Character) -> String? {
        rest = rest.dropFirst()
        var text = ""
        var index = rest.startIndex
        while index < rest.endIndex {
            let character = rest[index]
            let next = rest.index(after: index)
            if character == "\\" {
                guard next < rest.endIndex else { return nil }
                index = unescape(next, into: &text)
            } else if character == quote, endsValue(next) {
                rest = rest[next...]
                return text
            } else {
                text.append(character)
                index = next
            }
        }
        return nil
    }

    private func endsValue(_ index: Substring.Index) -> Bool {
        guard let after = rest[index...].first(where: { !$0.isWhitespace }) else { return true }
        return ",)]}:".contains(after)
    }

    /// Reads what stands behind a backslash.
    ///
    /// - Returns: the index behind the escape.
    private func unescape(_ index: Substring.Index, into text: inout String) -> Substring.Index {
        let after = rest.index(after: index)
        let known: [Character: String] = ["n": "\n", "t": "\t", "r": "\r", "b": "\u{8}", "f": "\u{C}", "0": "\0"]
        switch rest[index] {
        case "\n": return after
        case "\\", "'", "\"": text.append(rest[index])
        case "x", "u", "U":
            let count = rest[index] == "x" ? 2 : rest[index] == "u" ? 4 : 8
            let digits = rest[after...].prefix(count)
            // UInt32 would take a sign as well.
            guard digits.count == count, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16),
                let scalar = Unicode.Scalar(value)
            else {
                text += "\\" + String(rest[index])
                return after
            }
            text.unicodeScalars.append(scalar)
            return digits.endIndex
        case let letter: text += known[letter] ?? "\\" + String(letter)
        }
        return after
    }

    private mutating func skipSpace() { rest = rest.drop(while: \.isWhitespace) }

    /// Skips a character and the space around it.
    private mutating func skip(_ character: Character) -> Bool {
        skipSpace()
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        skipSpace()
        return true
    }
}
