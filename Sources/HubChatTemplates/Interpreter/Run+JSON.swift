extension Jinja.Run {
    /// The options of `tojson`.
    struct JSONStyle {
        var escapesNonASCII = false
        /// The indentation per level; nil for one line.
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
        case .none: try append("null", to: &result)
        case .bool(let bool): try append(bool ? "true" : "false", to: &result)
        case .int(let int): try append(String(int), to: &result)
        case .long(let digits):
            try reserve(digits.count)
            result += digits.scalars
        case .float(let float): try append(try json(float), to: &result)
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
        try reserve(2)
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
        case .float(let float): return Text(try json(float))
        default: throw fail("keys must be str, int, float, bool or None, not \(key.typeName)")
        }
    }

    private func json(_ float: Double) throws(Fault) -> String {
        if float.isNaN { return "NaN" }
        if float.isInfinite { return float < 0 ? "-Infinity" : "Infinity" }
        return try representation(of: float)
    }

    private func writeJSON(_ text: Text, _ style: JSONStyle, _ result: inout [Unicode.Scalar]) throws(Fault) {
        try spend(characters: text.count)
        try reserve(2 + text.scalars.reduce(0) { $0 + $1.jsonCount(style) })
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
            case _ where scalar.isEscaped(style):
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

extension Unicode.Scalar {
    /// Whether it is written as `\uXXXX`, unless it has a short escape.
    fileprivate func isEscaped(_ style: Jinja.Run.JSONStyle) -> Bool {
        value < 0x20 || (style.escapesNonASCII && value > 0x7E)
    }

    /// Its length in the output.
    fileprivate func jsonCount(_ style: Jinja.Run.JSONStyle) -> Int {
        switch self {
        case "\"", "\\", "\n", "\r", "\t", "\u{8}", "\u{C}": 2
        default: isEscaped(style) ? value < 0x10000 ? 6 : 12 : 1
        }
    }
}
