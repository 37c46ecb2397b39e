import HubCore

/// JSON as constants are written. As in any string of an answer, only what JSON requires is escaped.
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

    /// The one spelling that all equal values share, so that texts can be compared.
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

    /// The order of properties in ``canonical(_:)``: by their bytes.
    static func precedes(_ name: String, _ other: String) -> Bool {
        name.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// The inside of a string.
    static func content(_ text: String) -> String {
        var out = ""
        JSON.escape(text, into: &out)
        return out
    }
}
