extension JSON {
    /// The output style.
    public struct Style: Sendable {
        /// Spaces for each level; nil writes everything on one line with `, ` and `: ` left out.
        public var indent: Int?
        /// Whether members are ordered by key, by Unicode scalars as Python's `sort_keys` does.
        public var sortsKeys: Bool
        /// Whether what is not ASCII is written as `\uXXXX`, as Python's `json.dumps` does by default.
        public var escapesNonASCII: Bool

        /// One line, members in their own order.
        public static let compact = Style(indent: nil, sortsKeys: false, escapesNonASCII: false)
        /// Two spaces a level, members in their own order.
        public static let pretty = Style(indent: 2, sortsKeys: false, escapesNonASCII: false)
        /// As `json.dump(value, indent=1, sort_keys=True)` writes it, the form of the cache's `trees/<commit>.json`.
        package static let pythonTree = Style(indent: 1, sortsKeys: true, escapesNonASCII: true)
    }

    /// This value as JSON text. A number that JSON cannot hold (NaN, infinity) becomes `null`.
    public func text(_ style: Style = .compact) -> String {
        var out = ""
        write(into: &out, style, level: 0)
        return out
    }

    private func write(into out: inout String, _ style: Style, level: Int) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .int(let value): out += String(value)
        case .double(let value): out += value.isFinite ? "\(value)" : "null"
        case .longNumber(let digits): out += digits
        case .string(let value): JSON.quote(value, into: &out, escapesNonASCII: style.escapesNonASCII)
        case .array(let elements):
            JSON.list(elements, "[", "]", into: &out, style, level) { element, out in
                element.write(into: &out, style, level: level + 1)
            }
        case .object(let object):
            let members =
                style.sortsKeys
                ? object.members.sorted { $0.key.unicodeScalars.lexicographicallyPrecedes($1.key.unicodeScalars) }
                : object.members
            JSON.list(members, "{", "}", into: &out, style, level) { member, out in
                JSON.quote(member.key, into: &out, escapesNonASCII: style.escapesNonASCII)
                out += style.indent == nil ? ":" : ": "
                member.value.write(into: &out, style, level: level + 1)
            }
        }
    }

    private static func list<Item>(
        _ items: [Item], _ open: String, _ close: String, into out: inout String, _ style: Style, _ level: Int,
        _ write: (Item, inout String) -> Void
    ) {
        out += open
        for (offset, item) in items.enumerated() {
            if offset > 0 { out += "," }
            newline(into: &out, style, level + 1)
            write(item, &out)
        }
        if !items.isEmpty { newline(into: &out, style, level) }
        out += close
    }

    private static func newline(into out: inout String, _ style: Style, _ level: Int) {
        guard let indent = style.indent else { return }
        out += "\n" + String(repeating: " ", count: indent * level)
    }

    private static func quote(_ value: String, into out: inout String, escapesNonASCII: Bool) {
        out += "\""
        // DEL and the C1 controls are legal in JSON, but terminals interpret them.
        escape(value, into: &out) { scalar in
            (0x7F...0x9F).contains(scalar.value) || escapesNonASCII && scalar.value > 0x7E
        }
        out += "\""
    }

    /// Writes what stands between the quotes of a string.
    ///
    /// - Parameter escapes: whether a character is escaped that JSON would allow as it is.
    package static func escape(
        _ value: String, into out: inout String, where escapes: (Unicode.Scalar) -> Bool = { _ in false }
    ) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case "\u{8}": out += "\\b"
            case "\u{C}": out += "\\f"
            case _ where scalar.value < 0x20 || escapes(scalar):
                for unit in UTF16.encode(scalar)! { out += "\\u" + hex(unit) }
            default: out.unicodeScalars.append(scalar)
            }
        }
    }

    private static func hex(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
