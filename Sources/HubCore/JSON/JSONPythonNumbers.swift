extension JSON {
    /// Parses one document that Python may have written: its `json` module writes infinities and NaN as bare words, as in
    /// `"time_step_limit": [0.0, Infinity]`. They become doubles.
    ///
    /// - Parameter mostWords: as ``parse(_:mostWords:)`` says.
    /// - Throws: ``JSONError`` with simdjson's reason.
    package static func parsePython(_ bytes: [UInt8], mostWords: Int = usualWords) throws(JSONError) -> JSON {
        do { return try parse(bytes, mostWords: mostWords) } catch {
            guard let quoted = BareNumbers.quoted(bytes) else { throw error }
            return BareNumbers.restored(try parse(quoted, mostWords: mostWords))
        }
    }
}

/// Python's words for numbers that JSON does not have (https://docs.python.org/3/library/json.html#infinite-and-nan-number-values).
private enum BareNumbers {
    private static let words: [(text: [UInt8], value: Double)] = [
        (Array("-Infinity".utf8), -.infinity), (Array("Infinity".utf8), .infinity), (Array("NaN".utf8), .nan),
    ]
    /// Begins the strings that stand for them, for no name begins so.
    private static let mark: Character = "\0"

    /// The document with such words as strings; nil if there are none.
    static func quoted(_ bytes: [UInt8]) -> [UInt8]? {
        var out: [UInt8] = []
        var (copied, at, inString) = (0, 0, false)
        while at < bytes.count {
            let byte = bytes[at]
            if inString {
                if byte == UInt8(ascii: "\\") { at += 1 } else if byte == UInt8(ascii: "\"") { inString = false }
            } else if byte == UInt8(ascii: "\"") {
                inString = true
            } else if let (word, _) = words.first(where: { bytes[at...].starts(with: $0.text) }) {
                out += bytes[copied..<at] + Array("\"\\u0000".utf8) + word + [UInt8(ascii: "\"")]
                at += word.count
                copied = at
                continue
            }
            at += 1
        }
        return copied == 0 ? nil : out + bytes[copied...]
    }

    static func restored(_ json: JSON) -> JSON {
        switch json {
        case .string(let text):
            let word = words.first { text.first == mark && Array(text.dropFirst().utf8) == $0.text }
            return word.map { .double($0.value) } ?? json
        case .array(let elements): return .array(elements.map(restored))
        case .object(let object):
            return .object(JSONObject(object.members.map { ($0.key, restored($0.value)) }))
        default: return json
        }
    }
}
