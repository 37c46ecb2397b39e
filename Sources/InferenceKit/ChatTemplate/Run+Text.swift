extension Jinja.Run {
    /// `str(value)`
    func text(of value: Value) throws(Fault) -> Text {
        switch value {
        case .string(let text): return text.plain
        case .undefined: return ""
        default: return try representation(of: value)
        }
    }

    /// `repr(value)`
    func representation(of value: Value) throws(Fault) -> Text {
        var result: [Unicode.Scalar] = []
        try represent(value, &result)
        return Text(result)
    }

    /// `ascii(value)`
    func asciiRepresentation(of value: Value) throws(Fault) -> Text {
        let text = try representation(of: value)
        try reserve(text.scalars.reduce(0) { $0 + ($1.isASCII ? 1 : $1.pythonEscapeCount) })
        return Text(text.scalars.flatMap { $0.isASCII ? [$0] : Array($0.pythonEscape.unicodeScalars) })
    }

    private func represent(_ value: Value, _ result: inout [Unicode.Scalar]) throws(Fault) {
        try enter()
        defer { leave() }
        switch value {
        case .undefined: result += "Undefined".unicodeScalars
        case .none: result += "None".unicodeScalars
        case .bool(let bool): result += (bool ? "True" : "False").unicodeScalars
        case .int(let int): result += String(int).unicodeScalars
        case .long(let digits):
            try reserve(digits.count)
            result += digits.scalars
        case .float(let float): result += Jinja.representation(of: float).unicodeScalars
        case .string(let text):
            try reserve(text.quotedCount)
            result += text.isMarkup ? ("Markup(" + text.quoted + ")").scalars : text.quoted.scalars
        case .list(let items): try represent(items.values, "[", "]", &result)
        case .tuple(let items): try represent(items.values, "(", items.values.count == 1 ? ",)" : ")", &result)
        case .dictionary(let dictionary): try represent(dictionary, &result)
        case .view(let kind, let dictionary):
            result += "dict_\(kind)(".unicodeScalars
            try represent(try elements(.view(kind, dictionary)), "[", "]", &result)
            result.append(")")
        case .range(let range):
            let step = range.step == 1 ? "" : ", \(range.step)"
            result += "range(\(range.start), \(range.stop)\(step))".unicodeScalars
        case .stream: result += "<generator object>".unicodeScalars
        case .namespace(let namespace):
            result += "<Namespace ".unicodeScalars
            try represent(namespace.members, &result)
            result.append(">")
        case .loop(let loop): result += "<LoopContext \(loop.index + 1)/\(loop.knownCount)>".unicodeScalars
        case .function(let function):
            let kind = function.macro == nil ? "function" : "Macro"
            result += "<\(kind) '\(function.name)'>".unicodeScalars
        }
    }

    private func represent(
        _ values: [Value], _ open: String, _ close: String, _ result: inout [Unicode.Scalar]
    ) throws(Fault) {
        try reserve(2 * values.count + 2)
        result += open.unicodeScalars
        for (place, value) in values.enumerated() {
            if place > 0 { result += ", ".unicodeScalars }
            try represent(value, &result)
        }
        result += close.unicodeScalars
    }

    private func represent(_ dictionary: Jinja.Dict, _ result: inout [Unicode.Scalar]) throws(Fault) {
        try reserve(4 * dictionary.count + 2)
        result.append("{")
        for (place, key) in dictionary.keys.enumerated() {
            if place > 0 { result += ", ".unicodeScalars }
            try represent(key, &result)
            result += ": ".unicodeScalars
            try represent(dictionary.values[place], &result)
        }
        result.append("}")
    }
}

extension Jinja.Run {
    /// Called where numbers are reckoned with.
    func refuseLong(_ values: Value...) throws(Fault) {
        for case .long(let digits) in values {
            throw unsupported("a number of more than 64 bits (\(digits.string))")
        }
    }
}

extension Jinja.Text {
    /// The most that `quoted` may be.
    fileprivate var quotedCount: Int {
        scalars.reduce(2) { count, scalar in
            switch scalar {
            case "\\", "'", "\"", "\n", "\r", "\t": count + 2
            default: count + (scalar.isPythonPrintable ? 1 : scalar.pythonEscapeCount)
            }
        }
    }

    /// `repr` of the string.
    var quoted: Text {
        let quote: Unicode.Scalar = scalars.contains("'") && !scalars.contains("\"") ? "\"" : "'"
        var result: [Unicode.Scalar] = [quote]
        result.reserveCapacity(count + 2)
        for scalar in scalars {
            switch scalar {
            case quote, "\\": result += ["\\", scalar]
            case "\n": result += ["\\", "n"]
            case "\r": result += ["\\", "r"]
            case "\t": result += ["\\", "t"]
            case _ where scalar.isPythonPrintable: result.append(scalar)
            default: result += scalar.pythonEscape.unicodeScalars
            }
        }
        result.append(quote)
        return Text(result)
    }
}

extension Unicode.Scalar {
    fileprivate var pythonEscapeCount: Int { value < 0x100 ? 4 : value < 0x10000 ? 6 : 10 }

    /// `\xNN`, `\uNNNN` or `\UNNNNNNNN`
    var pythonEscape: String {
        let digits = String(value, radix: 16)
        let (letter, width) = value < 0x100 ? ("x", 2) : value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\" + letter + String(repeating: "0", count: width - digits.count) + digits
    }
}
