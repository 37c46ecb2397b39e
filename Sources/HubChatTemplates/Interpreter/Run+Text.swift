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

    /// `repr` of a float.
    func representation(of float: Double) throws(Fault) -> String {
        // The cost of finding the shortest digits.
        try spend(10)
        return Jinja.representation(of: float)
    }

    private func represent(_ value: Value, _ result: inout [Unicode.Scalar]) throws(Fault) {
        try enter()
        defer { leave() }
        switch value {
        case .undefined: try append("Undefined", to: &result)
        case .none: try append("None", to: &result)
        case .bool(let bool): try append(bool ? "True" : "False", to: &result)
        case .int(let int): try append(String(int), to: &result)
        case .long(let digits):
            try reserve(digits.count)
            result += digits.scalars
        case .float(let float): try append(try representation(of: float), to: &result)
        case .string(let text):
            try reserve(text.quotedCount)
            result += text.isMarkup ? ("Markup(" + text.quoted + ")").scalars : text.quoted.scalars
        case .list(let items): try represent(items.values, "[", "]", &result)
        case .tuple(let items): try represent(items.values, "(", items.values.count == 1 ? ",)" : ")", &result)
        case .dictionary(let dictionary): try represent(dictionary, &result)
        case .view(let kind, let dictionary):
            try append("dict_\(kind)(", to: &result)
            try represent(try elements(.view(kind, dictionary)), "[", "]", &result)
            try append(")", to: &result)
        case .range(let range):
            let step = range.step == 1 ? "" : ", \(range.step)"
            try append("range(\(range.start), \(range.stop)\(step))", to: &result)
        case .stream: try append("<generator object>", to: &result)
        case .namespace(let namespace):
            try append("<Namespace ", to: &result)
            try represent(namespace.members, &result)
            try append(">", to: &result)
        case .loop(let loop): try append("<LoopContext \(loop.index + 1)/\(try loop.length(self))>", to: &result)
        case .function(let function):
            try append(function.macro == nil ? "<function '" : "<Macro '", to: &result)
            try append(function.name, to: &result)
            try append("'>", to: &result)
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
    /// Called before arithmetic.
    func refuseLong(_ values: Value...) throws(Fault) {
        for case .long(let digits) in values {
            throw unsupported("a number of more than 64 bits (\(digits.string))")
        }
    }
}

extension Jinja.Text {
    /// The maximum length of `quoted`.
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
