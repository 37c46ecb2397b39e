/// How characters are written.
enum CharacterEncoding: Sendable {
    /// UTF-8 as it is.
    case plain
    /// Within a JSON string: each character in one form. Quotes, backslashes and controls are escaped, nothing else is.
    case jsonString
}

extension RegexStore {
    /// One character of a set.
    mutating func character(_ set: CodePoints, _ encoding: CharacterEncoding) -> ID {
        switch encoding {
        case .plain: return utf8(set)
        case .jsonString:
            var parts = [utf8(set.subtracting(Self.escaped))]
            for value in [0x22, 0x5C] + Array(0 as UInt32..<0x20) where set.contains(value) {
                parts.append(escape(value))
            }
            return either(parts)
        }
    }

    /// What JSON strings cannot hold as it is.
    private static let escaped = CodePoints([0...0x1F, 0x22...0x22, 0x5C...0x5C])

    private mutating func escape(_ value: UInt32) -> ID {
        let short: [UInt32: Character] = [
            0x22: "\"", 0x5C: "\\", 8: "b", 9: "t", 10: "n", 12: "f", 13: "r",
        ]
        if let letter = short[value] { return literal("\\\(letter)") }
        // In lower case, as ``JSONSpelling``: with two spellings a name could come twice.
        return literal((value < 16 ? "\\u000" : "\\u00") + String(value, radix: 16))
    }

    private mutating func utf8(_ set: CodePoints) -> ID {
        var parts: [ID] = []
        for range in set.ranges {
            var low = range.lowerBound
            for limit: UInt32 in [0x7F, 0x7FF, 0xFFFF, 0x10FFFF] where low <= limit && low <= range.upperBound {
                let high = min(limit, range.upperBound)
                parts.append(span(Self.encoded(low)[...], Self.encoded(high)[...]))
                low = high + 1
            }
        }
        return either(parts)
    }

    private static func encoded(_ value: UInt32) -> [UInt8] {
        // Sets have no surrogates.
        Array(UTF8.encode(Unicode.Scalar(value)!)!)
    }

    /// All encodings of one length between two.
    private mutating func span(_ low: ArraySlice<UInt8>, _ high: ArraySlice<UInt8>) -> ID {
        var (first, last) = (low[low.startIndex], high[high.startIndex])
        let (lowRest, highRest) = (low.dropFirst(), high.dropFirst())
        guard !lowRest.isEmpty else { return bytes(ByteSet(first...last)) }
        if first == last { return then(bytes(ByteSet(first)), span(lowRest, highRest)) }
        let least = [UInt8](repeating: 0x80, count: lowRest.count)[...]
        let most = [UInt8](repeating: 0xBF, count: lowRest.count)[...]
        var parts: [ID] = []
        if lowRest.contains(where: { $0 != 0x80 }) {
            parts.append(then(bytes(ByteSet(first)), span(lowRest, most)))
            first += 1
        }
        if highRest.contains(where: { $0 != 0xBF }) {
            parts.append(then(bytes(ByteSet(last)), span(least, highRest)))
            last -= 1
        }
        if first <= last { parts.append(then(bytes(ByteSet(first...last)), span(least, most))) }
        return either(parts)
    }
}
