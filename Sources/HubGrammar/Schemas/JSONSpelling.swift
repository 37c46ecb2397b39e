import HubCore

/// JSON as constants are written, with the same escapes as other strings.
enum JSONSpelling {
    static func value(_ value: JSON) -> String {
        switch value {
        case .string(let text): "\"\(content(text))\""
        case .array(let elements): "[" + elements.map(self.value).joined(separator: ",") + "]"
        case .object(let object):
            "{" + object.members.map { "\"\(content($0.key))\":\(self.value($0.value))" }.joined(separator: ",")
                + "}"
        default: value.text()
        }
    }

    /// JSON in the only spelling that equal values have.
    static func canonical(_ value: JSON) -> String {
        switch value {
        case .array(let elements): return "[" + elements.map(canonical).joined(separator: ",") + "]"
        case .object(let object):
            let keys = Set(object.keys.map { ExactText($0) }).map(\.text).sorted(by: precedes)
            let members = keys.map { "\"\(content($0))\":" + canonical(object[$0] ?? .null) }
            return "{" + members.joined(separator: ",") + "}"
        default: return DecimalBound(value, isExclusive: false)?.spelling ?? self.value(value)
        }
    }

    /// The order of properties where there is one order alone.
    static func precedes(_ name: String, _ other: String) -> Bool {
        name.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// The inside of a string.
    static func content(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case "\u{8}": out += "\\b"
            case "\u{C}": out += "\\f"
            case _ where scalar.value < 0x20:
                out += (scalar.value < 16 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
