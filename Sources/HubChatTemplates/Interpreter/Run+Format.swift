/// `str.format`: https://docs.python.org/3/library/string.html#format-string-syntax
extension Jinja.Run {
    /// The arguments of a format.
    private struct Fields {
        var positional: [Value]
        var named: [Text: Value]
        /// Whether fields are escaped.
        var isMarkup: Bool
    }

    func format(_ format: Text, _ arguments: Arguments) throws(Fault) -> Value {
        var next: Int? = 0
        try spend(cells: 6 * arguments.keywords.count)
        for keyword in arguments.keywords { try spend(hashing: keyword.name) }
        let named = Dictionary(arguments.keywords.map { ($0.name, $0.value) }) { first, _ in first }
        let fields = Fields(positional: arguments.positional, named: named, isMarkup: format.isMarkup)
        let text = try self.format(format.scalars[...], fields, &next, level: 2)
        return .string(text.marked(format.isMarkup))
    }

    /// - Parameter next: The number of the next field without one; nil once fields are numbered.
    private func format(
        _ format: ArraySlice<Unicode.Scalar>, _ arguments: Fields, _ next: inout Int?, level: Int
    ) throws(Fault) -> Text {
        guard level >= 0 else { throw fail("Max string recursion exceeded") }
        var result: [Unicode.Scalar] = []
        var rest = format
        while let scalar = rest.popFirst() {
            try spend(1)
            if scalar != "{" && scalar != "}" {
                result.append(scalar)
            } else if rest.first == scalar {
                result.append(scalar)
                rest.removeFirst()
            } else if scalar == "}" {
                throw fail("Single '}' encountered in format string")
            } else {
                let field = try cutField(&rest)
                // One pass to split it, one to classify the parts.
                try spend(kindsOf: 2 * field.count)
                let text = try replaced(field, arguments, &next, level)
                try reserve(text.count)
                result += text.scalars
            }
            try reserve(1)
        }
        return Text(result)
    }

    /// The text between braces, which may be nested.
    private func cutField(_ rest: inout ArraySlice<Unicode.Scalar>) throws(Fault) -> ArraySlice<Unicode.Scalar> {
        var open = 1
        for place in rest.indices {
            open += rest[place] == "{" ? 1 : rest[place] == "}" ? -1 : 0
            guard open == 0 else { continue }
            defer { rest = rest[(place + 1)...] }
            return rest[..<place]
        }
        throw fail(rest.isEmpty ? "Single '{' encountered in format string" : "expected '}' before end of string")
    }

    private func replaced(
        _ field: ArraySlice<Unicode.Scalar>, _ arguments: Fields, _ next: inout Int?, _ level: Int
    ) throws(Fault) -> Text {
        let nameEnd = field.firstIndex { $0 == "!" || $0 == ":" } ?? field.endIndex
        var value = try self.value(field[..<nameEnd], arguments, &next)
        var rest = field[nameEnd...]
        if rest.first == "!" {
            guard rest.count >= 2 else { throw fail("end of string while looking for conversion specifier") }
            switch rest[rest.startIndex + 1] {
            case "s": value = .string(try text(of: value))
            case "r": value = .string(try representation(of: value))
            case "a": value = .string(try asciiRepresentation(of: value))
            default: throw fail("Unknown conversion specifier")
            }
            rest = rest.dropFirst(2)
            guard rest.isEmpty || rest.first == ":" else { throw fail("expected ':' after conversion specifier") }
        }
        let specification = try format(rest.dropFirst(), arguments, &next, level: level - 1)
        guard arguments.isMarkup else { return try formatted(value, specification) }
        guard value.isMarkup else { return try escaped(.string(try formatted(value, specification))) }
        guard specification.isEmpty else { throw fail("Unsupported format specification for Markup.") }
        return value.text ?? ""
    }

    private func value(
        _ name: ArraySlice<Unicode.Scalar>, _ arguments: Fields, _ next: inout Int?
    ) throws(Fault) -> Value {
        let end = name.firstIndex { $0 == "." || $0 == "[" } ?? name.endIndex
        let first = Text(name[..<end])
        var value: Value
        let number = try fieldNumber(first)
        if first.isEmpty || number != nil {
            let place: Int
            if first.isEmpty {
                guard let upcoming = next else {
                    throw fail("cannot switch from manual field specification to automatic field numbering")
                }
                place = upcoming
                next = upcoming + 1
            } else {
                guard next == 0 || next == nil else {
                    throw fail("cannot switch from automatic field numbering to manual field specification")
                }
                place = number ?? 0
                next = nil
            }
            guard arguments.positional.indices.contains(place) else {
                throw fail("Replacement index \(place) out of range for positional args tuple")
            }
            value = arguments.positional[place]
        } else {
            guard let found = arguments.named[first] else { throw fail(first.quoted.string) }
            value = found
        }
        var rest = name[end...]
        while let mark = rest.popFirst() {
            let close =
                mark == "[" ? rest.firstIndex(of: "]") : rest.firstIndex { $0 == "." || $0 == "[" } ?? rest.endIndex
            guard mark == "." || mark == "[", let close else { throw fail("Missing ']' in format string") }
            let part = Text(rest[..<close])
            guard !part.isEmpty else { throw fail("Empty attribute in format string") }
            if mark == "." {
                value = try attribute(part, of: value)
                rest = rest[close...]
            } else {
                value = try item(try fieldNumber(part).map { .int($0) } ?? .string(part), of: value)
                rest = rest[(close + 1)...]
            }
        }
        return value
    }
}

extension Jinja.Run {
    /// The number of a field or index; nil for a name, such as anything with a sign.
    private func fieldNumber(_ name: Text) throws(Fault) -> Int? {
        let digits = name.withASCIIDigits
        guard !digits.isEmpty, digits.scalars.allSatisfy({ (0x30...0x39).contains($0.value) }) else { return nil }
        guard let number = Int(digits.string) else { throw fail("Too many decimal digits in format string") }
        return number
    }
}

/// The format specification: the part after a field's colon.
private struct Specification {
    var fill: Unicode.Scalar = " "
    var align: Unicode.Scalar?
    var sign: Unicode.Scalar = "-"
    var isAlternate = false
    var width = 0
    var grouping: Unicode.Scalar?
    var precision: Int?
    var type: Unicode.Scalar?
}

extension Jinja.Run {
    private func specification(_ text: Text) throws(Fault) -> Specification {
        var result = Specification()
        var rest = text.scalars[...]
        let aligns: [Unicode.Scalar] = ["<", ">", "^", "="]
        if rest.count >= 2, aligns.contains(rest[rest.startIndex + 1]) {
            result.fill = rest.removeFirst()
            result.align = rest.removeFirst()
        } else if let first = rest.first, aligns.contains(first) {
            result.align = rest.removeFirst()
        }
        if let sign = rest.first, ["+", "-", " "].contains(sign) { result.sign = rest.removeFirst() }
        if rest.first == "#" {
            result.isAlternate = true
            rest.removeFirst()
        }
        if rest.first == "0" {
            rest.removeFirst()
            if result.align == nil {
                result.fill = "0"
                result.align = "="
            }
        }
        result.width = try number(&rest) ?? 0
        if let mark = rest.first, mark == "," || mark == "_" { result.grouping = rest.removeFirst() }
        if rest.first == "." {
            rest.removeFirst()
            guard let precision = try number(&rest) else { throw fail("Format specifier missing precision") }
            result.precision = precision
        }
        result.type = rest.popFirst()
        guard rest.isEmpty else { throw fail("Invalid format specifier") }
        return result
    }

    private func number(_ rest: inout ArraySlice<Unicode.Scalar>) throws(Fault) -> Int? {
        var value: Int?
        while let scalar = rest.first, scalar.isASCII, let digit = Int(String(scalar)) {
            value = (value ?? 0) * 10 + digit
            try check(width: value ?? 0)
            rest.removeFirst()
        }
        return value
    }

    /// `format(value, specification)`
    func formatted(_ value: Value, _ text: Text) throws(Fault) -> Text {
        if text.isEmpty { return try self.text(of: value) }
        try refuseLong(value)
        let specification = try specification(text)
        switch value {
        case .string(let string):
            guard [nil, "s"].contains(specification.type) else { throw unknown(specification, value) }
            guard specification.align != "=" || specification.fill == "0" else {
                throw fail("'=' alignment not allowed in string format specifier")
            }
            let body = specification.precision.map { Text(string.scalars.prefix($0)) } ?? string
            let align = specification.align == "=" ? "<" : specification.align ?? "<"
            return try padded(body, specification.width, align, specification.fill)
        case .int, .bool:
            let number = value.wholeNumber ?? 0
            if let type = specification.type, "eEfFgG%".unicodeScalars.contains(type) {
                return try formatted(Double(number), specification, value)
            }
            return try formatted(number, specification, value)
        case .float(let number): return try formatted(number, specification, value)
        default: throw fail("unsupported format string passed to \(value.typeName).__format__")
        }
    }

    private func unknown(_ specification: Specification, _ value: Value) -> Fault {
        let type = specification.type.map { String($0) } ?? ""
        return fail("Unknown format code '\(type)' for object of type '\(value.typeName)'")
    }

    private func formatted(_ number: Int, _ specification: Specification, _ value: Value) throws(Fault) -> Text {
        guard specification.precision == nil else {
            throw fail("Precision not allowed in integer format specifier")
        }
        let radix: Int
        switch specification.type {
        case nil, "d", "n": radix = 10
        case "b": radix = 2
        case "o": radix = 8
        case "x", "X": radix = 16
        case "c":
            guard let code = UInt32(exactly: number), let scalar = Unicode.Scalar(code) else {
                throw fail("%c arg not in range(0x110000)")
            }
            return try padded(Text([scalar]), specification.width, specification.align ?? "<", specification.fill)
        default: throw unknown(specification, value)
        }
        let digits = String(number.magnitude, radix: radix, uppercase: specification.type == "X")
        let prefix = specification.isAlternate && radix != 10 ? "0\(specification.type ?? "x")" : ""
        return try assembled(number < 0, prefix, digits, "", radix == 10 ? 3 : 4, specification)
    }

    private func formatted(
        _ number: Double, _ specification: Specification, _ value: Value
    ) throws(Fault) -> Text {
        let precision = specification.precision
        try spend(Self.stepsOfPrinting)
        try reserve(precision ?? 6)
        var suffix = ""
        var text: String
        switch specification.type {
        case nil:
            if let precision {
                text = Jinja.formatted(number.magnitude, "g", precision: max(1, precision))
                if !text.contains(where: { ".einf".contains($0) }) { text += ".0" }
            } else {
                text = Jinja.representation(of: number.magnitude)
            }
        case "%":
            text = Jinja.formatted(number.magnitude * 100, "f", precision: precision ?? 6)
            suffix = "%"
        case let type? where "eEfFgGn".unicodeScalars.contains(type):
            text = Jinja.formatted(
                number.magnitude, type == "n" ? "g" : Character(type), precision: precision ?? 6,
                keepsZeros: specification.isAlternate)
        default: throw unknown(specification, value)
        }
        let wholeEnd = text.firstIndex { !$0.isNumber } ?? text.endIndex
        let rest = String(text[wholeEnd...]) + suffix
        let isNegative = number.sign == .minus && !number.isNaN
        return try assembled(isNegative, "", String(text[..<wholeEnd]), rest, 3, specification)
    }

    /// Sign, grouped digits and the rest, padded.
    private func assembled(
        _ isNegative: Bool, _ prefix: String, _ digits: String, _ rest: String, _ group: Int,
        _ specification: Specification
    ) throws(Fault) -> Text {
        let plus = specification.sign == "-" ? "" : String(specification.sign)
        let head = Text((isNegative ? "-" : plus) + prefix)
        var body = Array(digits.unicodeScalars)
        if specification.align == "=" || specification.align == nil && specification.fill == "0" {
            // Leading zeros are grouped with the digits.
            let room = specification.width - head.count - rest.unicodeScalars.count
            if specification.fill == "0" {
                // A separator cannot come first, so there is one more zero.
                var count = body.count
                while count + (specification.grouping == nil ? 0 : (count - 1) / group) < room { count += 1 }
                try reserve(2 * count)
                body.insert(contentsOf: [Unicode.Scalar](repeating: "0", count: count - body.count), at: 0)
                return head + Text(grouped(body, group, specification.grouping)) + Text(rest)
            }
            let text = Text(grouped(body, group, specification.grouping)) + Text(rest)
            return head + (try padded(text, specification.width - head.count, ">", specification.fill))
        }
        let text = head + Text(grouped(body, group, specification.grouping)) + Text(rest)
        return try padded(text, specification.width, specification.align ?? ">", specification.fill)
    }

    private func grouped(
        _ digits: [Unicode.Scalar], _ group: Int, _ separator: Unicode.Scalar?
    ) -> [Unicode.Scalar] {
        guard let separator else { return digits }
        var result: [Unicode.Scalar] = []
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % group == 0 { result.append(separator) }
            result.append(digit)
        }
        return result
    }
}
