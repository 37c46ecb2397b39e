/// A field to be padded.
private struct Field {
    var sign = ""
    var prefix = ""
    var body: Jinja.Text
    /// Whether it is a number, which is right-aligned.
    var isNumber = false
}

extension Jinja.Run {
    func check(width: Int) throws(Fault) {
        guard width <= Jinja.widestField else { throw limit("a field is wider than \(Jinja.widestField)") }
    }

    /// A text centred, left-aligned or right-aligned in a field.
    func padded(_ text: Text, _ width: Int, _ align: Unicode.Scalar, _ fill: Unicode.Scalar) throws(Fault) -> Text {
        guard width > text.count else { return text }
        try reserve(width)
        let room = width - text.count
        let left = align == ">" ? room : align == "^" ? room / 2 : 0
        return Text(
            [Unicode.Scalar](repeating: fill, count: left) + text.scalars
                + [Unicode.Scalar](repeating: fill, count: room - left))
    }

    // MARK: format % values

    /// Python's `%` operator on strings.
    func printf(_ format: Text, _ values: Value) throws(Fault) -> Value {
        // Keys, flags, widths and lengths may be long without producing output.
        try spend(kindsOf: format.count)
        var reader = PercentReader(format, values)
        var result: [Unicode.Scalar] = []
        while let piece = try reader.next(self) {
            try reserve(piece.count)
            result += piece.scalars
        }
        try reader.checkEnd(self)
        return .string(Text(result).marked(format.isMarkup))
    }

    private struct PercentReader {
        private let isMarkup: Bool
        private let format: [Unicode.Scalar]
        private var at = 0
        private let values: Value
        private var positional: [Value]
        private var used = 0
        private var isMapping: Bool

        init(_ format: Text, _ values: Value) {
            self.format = format.scalars
            isMarkup = format.isMarkup
            self.values = values
            if case .tuple(let items) = values { positional = items.values } else { positional = [values] }
            isMapping =
                switch values {
                // Python accepts an unused container.
                case .dictionary, .list, .range, .undefined: true
                default: false
                }
        }

        mutating func next(_ run: Jinja.Run) throws(Fault) -> Text? {
            guard at < format.count else { return nil }
            if format[at] != "%" {
                let start = at
                while at < format.count, format[at] != "%" { at += 1 }
                return Text(format[start..<at])
            }
            at += 1
            return try conversion(run)
        }

        func checkEnd(_ run: Jinja.Run) throws(Fault) {
            if !isMapping, used < positional.count {
                throw run.fail("not all arguments converted during string formatting")
            }
        }

        private mutating func taken(_ run: Jinja.Run) throws(Fault) -> Value {
            guard used < positional.count else { throw run.fail("not enough arguments for format string") }
            used += 1
            return positional[used - 1]
        }

        private mutating func scalar(_ run: Jinja.Run) throws(Fault) -> Unicode.Scalar {
            guard at < format.count else { throw run.fail("incomplete format") }
            at += 1
            return format[at - 1]
        }

        private mutating func number(_ run: Jinja.Run) throws(Fault) -> Int? {
            if at < format.count, format[at] == "*" {
                at += 1
                guard let width = try taken(run).wholeNumber else { throw run.fail("* wants int") }
                try run.check(width: width.magnitude > Int.max ? .max : Int(width.magnitude))
                return width
            }
            var value: Int?
            while at < format.count, let digit = Int(String(format[at])), format[at].isASCII {
                value = (value ?? 0) * 10 + digit
                try run.check(width: value ?? 0)
                at += 1
            }
            return value
        }

        private mutating func conversion(_ run: Jinja.Run) throws(Fault) -> Text {
            var key: Value?
            if at < format.count, format[at] == "(" { key = try mappingKey(run) }
            var flags = Set<Unicode.Scalar>()
            while at < format.count, "-+ #0".unicodeScalars.contains(format[at]) {
                flags.insert(format[at])
                at += 1
            }
            var width = try number(run) ?? 0
            if width < 0 {
                flags.insert("-")
                width = -width
            }
            var precision: Int?
            if at < format.count, format[at] == "." {
                at += 1
                precision = max(0, try number(run) ?? 0)
            }
            while at < format.count, "hlL".unicodeScalars.contains(format[at]) { at += 1 }
            let type = try scalar(run)
            if type == "%" { return "%" }
            let value: Value
            if let key { value = key } else { value = try taken(run) }
            let field = try field(value, type, flags, precision, run)
            let text = Text(field.sign + field.prefix) + field.body
            if flags.contains("-") { return try run.padded(text, width, "<", " ") }
            if flags.contains("0"), field.isNumber {
                let zeros = try run.padded(field.body, width - field.sign.count - field.prefix.count, ">", "0")
                return Text(field.sign + field.prefix) + zeros
            }
            return try run.padded(text, width, ">", " ")
        }

        private mutating func mappingKey(_ run: Jinja.Run) throws(Fault) -> Value {
            if case .undefined(let undefined) = values { throw run.fail(undefined.message) }
            guard case .dictionary(let dictionary) = values else { throw run.fail("format requires a mapping") }
            at += 1
            let start = at
            var open = 1
            while open > 0 {
                let next = try scalar(run)
                open += next == "(" ? 1 : next == ")" ? -1 : 0
            }
            let name = Text(format[start..<at - 1])
            guard let value = dictionary[name] else { throw run.fail(name.quoted.string) }
            return value
        }

        private func field(
            _ value: Value, _ type: Unicode.Scalar, _ flags: Set<Unicode.Scalar>, _ precision: Int?,
            _ run: Jinja.Run
        ) throws(Fault) -> Field {
            func sign(_ isNegative: Bool) -> String {
                isNegative ? "-" : flags.contains("+") ? "+" : flags.contains(" ") ? " " : ""
            }
            if !"sra".unicodeScalars.contains(type) { try run.refuseLong(value) }
            switch type {
            case "s", "r", "a":
                var text =
                    switch type {
                    case "s": try run.text(of: value)
                    case "r": try run.representation(of: value)
                    default: try run.asciiRepresentation(of: value)
                    }
                if isMarkup { text = try run.escaped(type == "s" ? value : .string(text)) }
                return Field(body: precision.map { Text(text.scalars.prefix($0)) } ?? text)
            case "c":
                if let text = value.text, text.count == 1 { return Field(body: text) }
                if let number = value.wholeNumber, let code = UInt32(exactly: number),
                    let scalar = Unicode.Scalar(code)
                {
                    return Field(body: Text([scalar]))
                }
                throw run.fail("%c requires int or char")
            case "d", "i", "u", "x", "X", "o":
                let number = try whole(value, type, run)
                let radix = type == "o" ? 8 : type == "x" || type == "X" ? 16 : 10
                let digits = String(number.magnitude, radix: radix, uppercase: type == "X")
                let zeros = String(repeating: "0", count: max(0, (precision ?? 0) - digits.count))
                let prefix = flags.contains("#") && radix != 10 ? "0\(type)" : ""
                return Field(sign: sign(number < 0), prefix: prefix, body: Text(zeros + digits), isNumber: true)
            case "e", "E", "f", "F", "g", "G":
                guard let number = value.number else {
                    throw run.fail("must be real number, not \(value.typeName)")
                }
                try run.spend(Jinja.Run.stepsOfPrinting)
                try run.reserve(precision ?? 6)
                let body = Jinja.formatted(
                    number.magnitude, Character(type), precision: precision ?? 6, keepsZeros: flags.contains("#"))
                return Field(sign: sign(number.sign == .minus && !number.isNaN), body: Text(body), isNumber: true)
            default:
                throw run.fail("unsupported format character '\(type)' (0x\(String(type.value, radix: 16)))")
            }
        }

        private func whole(_ value: Value, _ type: Unicode.Scalar, _ run: Jinja.Run) throws(Fault) -> Int {
            if let number = value.wholeNumber { return number }
            if case .float(let float) = value, !"xXo".unicodeScalars.contains(type) {
                guard let number = Int(exactly: float.rounded(.towardZero)) else {
                    throw run.fail("cannot convert float \(Jinja.representation(of: float)) to integer")
                }
                return number
            }
            let kind = "xXo".unicodeScalars.contains(type) ? "an integer" : "a real number"
            throw run.fail("%\(type) format: \(kind) is required, not \(value.typeName)")
        }
    }
}
