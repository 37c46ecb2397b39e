extension Jinja.Run {
    /// How `tojson` writes.
    struct JSONStyle {
        var escapesNonASCII = false
        /// What each level is indented by; nil for one line.
        var indent: Text?
        var itemSeparator: Text = ", "
        var keySeparator: Text = ": "
        var sortsKeys = false
    }

    /// As Python's `json.dumps`.
    func json(_ value: Value, _ style: JSONStyle) throws(Fault) -> Text {
        var result: [Unicode.Scalar] = []
        try writeJSON(value, style, 0, &result)
        return Text(result)
    }

    private func writeJSON(
        _ value: Value, _ style: JSONStyle, _ level: Int, _ result: inout [Unicode.Scalar]
    ) throws(Fault) {
        try enter()
        defer { leave() }
        switch value {
        case .none: result += "null".unicodeScalars
        case .bool(let bool): result += (bool ? "true" : "false").unicodeScalars
        case .int(let int): result += String(int).unicodeScalars
        case .long(let digits):
            try reserve(digits.count)
            result += digits.scalars
        case .float(let float): result += Self.json(float).unicodeScalars
        case .string(let text): try writeJSON(text, style, &result)
        case .list(let items), .tuple(let items):
            try writeJSON(items.values, "[", "]", style, level, &result) { element, result throws(Fault) in
                try writeJSON(element, style, level + 1, &result)
            }
        case .dictionary(let dictionary):
            let places = try order(dictionary, style)
            try writeJSON(places, "{", "}", style, level, &result) { place, result throws(Fault) in
                try writeJSON(try jsonKey(dictionary.keys[place]), style, &result)
                result += style.keySeparator.scalars
                try writeJSON(dictionary.values[place], style, level + 1, &result)
            }
        default: throw fail("Object of type \(value.typeName) is not JSON serializable")
        }
    }

    private func order(_ dictionary: Jinja.Dict, _ style: JSONStyle) throws(Fault) -> [Int] {
        guard style.sortsKeys else { return Array(dictionary.keys.indices) }
        return try sorted(dictionary.keys).map(\.place)
    }

    private func writeJSON<Item>(
        _ items: [Item], _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ style: JSONStyle, _ level: Int,
        _ result: inout [Unicode.Scalar], _ write: (Item, inout [Unicode.Scalar]) throws(Fault) -> Void
    ) throws(Fault) {
        result.append(open)
        for (place, item) in items.enumerated() {
            try reserve(style.itemSeparator.count + style.keySeparator.count)
            if place > 0 { result += style.itemSeparator.scalars }
            try writeBreak(style, level + 1, &result)
            try write(item, &result)
        }
        if !items.isEmpty { try writeBreak(style, level, &result) }
        result.append(close)
    }

    private func writeBreak(_ style: JSONStyle, _ level: Int, _ result: inout [Unicode.Scalar]) throws(Fault) {
        guard let indent = style.indent else { return }
        try reserve(1 + indent.count * level)
        result.append("\n")
        for _ in 0..<level { result += indent.scalars }
    }

    private func jsonKey(_ key: Value) throws(Fault) -> Text {
        switch key {
        case .string(let text): return text
        case .none: return "null"
        case .bool(let bool): return bool ? "true" : "false"
        case .int(let int): return Text(String(int))
        case .long(let digits): return digits
        case .float(let float): return Text(Self.json(float))
        default: throw fail("keys must be str, int, float, bool or None, not \(key.typeName)")
        }
    }

    private static func json(_ float: Double) -> String {
        if float.isNaN { return "NaN" }
        if float.isInfinite { return float < 0 ? "-Infinity" : "Infinity" }
        return Jinja.representation(of: float)
    }

    private func writeJSON(_ text: Text, _ style: JSONStyle, _ result: inout [Unicode.Scalar]) throws(Fault) {
        try reserve(text.count + 2)
        result.append("\"")
        for scalar in text.scalars {
            switch scalar {
            case "\"": result += ["\\", "\""]
            case "\\": result += ["\\", "\\"]
            case "\n": result += ["\\", "n"]
            case "\r": result += ["\\", "r"]
            case "\t": result += ["\\", "t"]
            case "\u{8}": result += ["\\", "b"]
            case "\u{C}": result += ["\\", "f"]
            case _ where scalar.value < 0x20 || (style.escapesNonASCII && scalar.value > 0x7E):
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
                }
            default: result.append(scalar)
            }
        }
        result.append("\"")
    }
}
