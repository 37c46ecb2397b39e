import HubCore

/// Reads the values of Gemma 4's calls: JSON whose keys are bare, and whose texts stand between the token `<|"|>`.
struct MarkedValueReader {
    private var rest: Substring
    private static let quote = "<|\"|>"
    /// Deeper values are refused: they are read by recursion.
    private static let deepest = 64

    init(_ text: Substring) { rest = text }

    /// The object at the beginning; nil if there is none or it is not whole.
    mutating func object() -> JSONObject? { object(depth: 0) }

    private mutating func object(depth: Int) -> JSONObject? {
        guard depth < Self.deepest, skip("{") else { return nil }
        var object = JSONObject()
        while true {
            if skip("}") { return object }
            guard let key = key(), skip(":"), let value = value(depth: depth + 1) else { return nil }
            object[key] = value
            guard skip(",") || rest.drop(while: \.isWhitespace).first == "}" else { return nil }
        }
    }

    private mutating func list(depth: Int) -> [JSON]? {
        guard depth < Self.deepest, skip("[") else { return nil }
        var list: [JSON] = []
        while true {
            if skip("]") { return list }
            guard let value = value(depth: depth + 1) else { return nil }
            list.append(value)
            guard skip(",") || rest.drop(while: \.isWhitespace).first == "]" else { return nil }
        }
    }

    private mutating func value(depth: Int) -> JSON? {
        let start = rest.drop(while: \.isWhitespace)
        if start.first == "{" { return object(depth: depth).map { .object($0) } }
        if start.first == "[" { return list(depth: depth).map { .array($0) } }
        if start.hasPrefix(Self.quote) || start.first == "\"" { return text().map { .string($0) } }
        let word = start.prefix { !",}]".contains($0) }
        rest = start[word.endIndex...]
        return try? JSON.parse(String(word).trimmed)
    }

    private mutating func key() -> String? {
        let start = rest.drop(while: \.isWhitespace)
        if start.hasPrefix(Self.quote) || start.first == "\"" { return text() }
        let key = start.prefix { !":,{}".contains($0) }
        rest = start[key.endIndex...]
        return key.isEmpty ? nil : String(key).trimmed
    }

    /// A text between two quotes, of the model's own or of JSON.
    private mutating func text() -> String? {
        rest = rest.drop(while: \.isWhitespace)
        guard rest.hasPrefix(Self.quote) else { return jsonText() }
        rest = rest.dropFirst(Self.quote.count)
        guard let end = rest.firstRange(of: Self.quote) else { return nil }
        defer { rest = rest[end.upperBound...] }
        return String(rest[..<end.lowerBound])
    }

    private mutating func jsonText() -> String? {
        var isEscaped = false
        for index in rest.indices.dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if rest[index] == "\\" {
                isEscaped = true
            } else if rest[index] == "\"" {
                let text = rest[...index]
                rest = rest[rest.index(after: index)...]
                return (try? JSON.parse(String(text)))?.string
            }
        }
        return nil
    }

    private mutating func skip(_ character: Character) -> Bool {
        let start = rest.drop(while: \.isWhitespace)
        guard start.first == character else { return false }
        rest = start.dropFirst()
        return true
    }
}
