import HubCore
package import Support

extension SeededRandom {
    /// An input made of another: bytes changed, or whole values where it is a JSON document.
    package mutating func fuzzed(_ source: [UInt8]) -> [UInt8] {
        if one(in: 2), let json = try? JSON.parsePython(source) { return Array(mutated(json).text().utf8) }
        return mutated(source)
    }
}

extension SeededRandom {
    /// Bytes with a few places flipped, copied, cut out, put in or cut off, numbers made extreme.
    mutating func mutated(_ source: [UInt8]) -> [UInt8] {
        var bytes = source
        for _ in 0...below(4) where !bytes.isEmpty {
            let at = below(bytes.count)
            switch below(8) {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: next())
            case 1: bytes[at] ^= 1 << UInt8(below(8))
            case 2: bytes[at] = bytes[below(bytes.count)]
            case 3: bytes.removeSubrange(at..<min(at + below(9), bytes.count))
            case 4: bytes.removeSubrange((at + 1)...)
            case 5:
                let from = below(bytes.count)
                bytes.insert(contentsOf: bytes[from..<min(from + below(40), bytes.count)], at: at)
            case 6:
                // The ends of the whole numbers, where sums and products overflow.
                let extremes: [UInt64] = [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 62, 1 << 63, .max]
                let value = extremes[below(extremes.count)]
                for byte in 0..<(one(in: 2) ? 4 : 8) where at + byte < bytes.count {
                    bytes[at + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
                }
            default:
                // JSON's own: what is a number, a bracket or a word becomes another.
                let words = [
                    "-1", "9223372036854775807", "1e308", "null", "[", "]", "{", "}", "\"", ",", ":", "\\u0000",
                    "true",
                ]
                let word = Array(words[below(words.count)].utf8)
                bytes.replaceSubrange(at..<min(at + below(4), bytes.count), with: word)
            }
        }
        return bytes
    }
}

extension SeededRandom {
    /// A document with a few of its values replaced by unexpected ones.
    mutating func mutated(_ source: JSON) -> JSON {
        var json = source
        for _ in 0...below(3) { json = replaced(json, depth: 0) }
        return json
    }

    private static let values: [JSON] = [
        .null, true, -1, 0, 1, 3, 64, .int(1 << 31), .int(.max), .int(.min), .double(1e308), .double(0.5), "", "x",
        "\u{301}\u{0}", .array([]), .object([:]), .array([.array([.array([-1])])]),
    ]

    private mutating func replaced(_ json: JSON, depth: Int) -> JSON {
        if depth > 0, one(in: 5) { return Self.values[below(Self.values.count)] }
        switch json {
        case .array(var elements) where !elements.isEmpty:
            let at = below(elements.count)
            if one(in: 12) {
                elements.remove(at: at)
            } else if one(in: 12) {
                elements.insert(elements[at], at: below(elements.count))
            } else {
                elements[at] = replaced(elements[at], depth: depth + 1)
            }
            return .array(elements)
        case .object(let object) where !object.members.isEmpty:
            var members = object.members.map { (key: $0.key, value: $0.value) }
            let at = below(members.count)
            if one(in: 12) {
                members.remove(at: at)
            } else {
                members[at].value = replaced(members[at].value, depth: depth + 1)
            }
            return .object(JSONObject(members))
        default: return Self.values[below(Self.values.count)]
        }
    }
}
