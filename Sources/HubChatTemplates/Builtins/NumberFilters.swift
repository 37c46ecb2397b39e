import Libc

extension Jinja {
    static let numberFilters: [String: Filter] = [
        "abs": .fixed([]) { run, value, _ throws(Fault) in
            try run.refuseLong(value)
            if case .float(let number) = value { return .float(number.magnitude) }
            guard let number = value.wholeNumber else {
                throw run.fail("bad operand type for abs(): '\(value.typeName)'")
            }
            return number < 0 ? try run.signed(true, .int(number)) : .int(number)
        },
        "int": .fixed(["default", "base"]) { run, value, given throws(Fault) in
            try run.refuseLong(value)
            let base = try run.whole(given[1], "base") ?? 10
            return try run.integer(value, base) ?? given[0] ?? .int(0)
        },
        "float": .fixed(["default"]) { run, value, given throws(Fault) in
            if case .undefined(let undefined) = value { throw run.fail(undefined.message) }
            try run.refuseLong(value)
            try run.spend(kindsOf: value.text?.count ?? 0)
            return value.float.map { .float($0) } ?? given[0] ?? .float(0)
        },
        "round": .fixed(["precision", "method"]) { run, value, given throws(Fault) in
            try run.refuseLong(value)
            let precision = try run.whole(given[0], "precision") ?? 0
            return try run.round(value, precision, try run.text(given[1], "method") ?? "common")
        },
        "filesizeformat": .fixed(["binary"]) { run, value, given throws(Fault) in
            try run.refuseLong(value)
            try run.spend(kindsOf: value.text?.count ?? 0)
            try run.spend(Jinja.Run.stepsOfPrinting)
            guard let bytes = value.float else {
                throw run.fail("could not convert \(value.typeName) to a number of bytes")
            }
            return .string(run.fileSize(bytes, isBinary: given[0]?.isTrue ?? false))
        },
    ]
}

extension Jinja.Value {
    /// `float(value)`; nil if it fails.
    fileprivate var float: Double? {
        guard case .string(let text) = self else { return number }
        let digits = text.withASCIIDigits.stripped(left: true, right: true, where: \.isPythonSpace)
        let spelling = digits.string.lowercased()
        let sign: Double = spelling.hasPrefix("-") ? -1 : 1
        switch spelling.drop(while: { $0 == "-" || $0 == "+" }) {
        case "inf", "infinity": return sign * .infinity
        case "nan": return .nan
        default: break
        }
        guard digits.scalars.allSatisfy({ "0123456789+-.eE_".unicodeScalars.contains($0) }),
            let plain = digits.withoutUnderscores
        else { return nil }
        // Swift requires digits on both sides of the point.
        return Double(plain) ?? Double(plain.replacingPoint)
    }
}

extension Jinja.Text {
    /// Without the underscores between digits; nil for a misplaced one.
    fileprivate var withoutUnderscores: String? {
        for (place, scalar) in scalars.enumerated() where scalar == "_" {
            guard place > 0, place + 1 < count, scalars[place - 1].properties.isASCIIHexDigit,
                scalars[place + 1].properties.isASCIIHexDigit
            else { return nil }
        }
        return Text(scalars.filter { $0 != "_" }).string
    }
}

extension String {
    /// `1.` as `1.0` and `.5` as `0.5`.
    fileprivate var replacingPoint: String {
        guard let point = firstIndex(of: "."), count > 1 else { return self }
        var result = self
        let next = index(after: point)
        if next == endIndex || !self[next].isNumber { result.insert("0", at: next) }
        if point == startIndex || !self[index(before: point)].isNumber { result.insert("0", at: point) }
        return result
    }
}

extension Jinja.Run {
    /// `int(value, base)`, else of its `float`; nil if both fail.
    fileprivate func integer(_ value: Value, _ base: Int) throws(Fault) -> Value? {
        switch value {
        case .undefined(let undefined): throw fail(undefined.message)
        case .string(let text):
            // Counts for both this and `float`.
            try spend(kindsOf: 2 * text.count)
            if let number = try integer(text, base) { return .int(number) }
        case .float(let number) where number.isInfinite: throw fail("cannot convert float infinity to integer")
        default: if let number = value.wholeNumber { return .int(number) }
        }
        guard let float = value.float, float.isFinite else { return nil }
        guard let number = Int(exactly: float.rounded(.towardZero)) else {
            throw unsupported("a number of more than 64 bits")
        }
        return .int(number)
    }

    private func integer(_ text: Text, _ base: Int) throws(Fault) -> Int? {
        guard base == 0 || (2...36).contains(base) else { throw fail("int() base must be >= 2 and <= 36, or 0") }
        var rest = text.withASCIIDigits.stripped(left: true, right: true, where: \.isPythonSpace)
        var sign = ""
        if let first = rest.scalars.first, first == "-" || first == "+" {
            sign = first == "-" ? "-" : ""
            rest = rest.slice(1..<rest.count)
        }
        var radix = base
        for (prefix, value) in [("0x", 16), ("0o", 8), ("0b", 2)] where base == value || base == 0 {
            if rest.lowercased().hasPrefix(Text(prefix), at: 0) {
                radix = value
                rest = rest.slice(2..<rest.count)
                // `0x_1` is valid too.
                if rest.scalars.first == "_" { rest = rest.slice(1..<rest.count) }
            }
        }
        if radix == 0 { radix = 10 }
        guard let first = rest.scalars.first, first != "-", first != "+", let digits = rest.withoutUnderscores
        else {
            return nil
        }
        if let number = Int(sign + digits, radix: radix) { return number }
        let isNumber = digits.allSatisfy { $0.isASCII && Int(String($0), radix: radix) != nil }
        if isNumber { throw unsupported("a number of more than 64 bits") }
        return nil
    }

    fileprivate func round(_ value: Value, _ precision: Int, _ method: Text) throws(Fault) -> Value {
        guard ["common", "ceil", "floor"].contains(method) else {
            throw fail("method must be common, ceil or floor")
        }
        if case .undefined = value { throw fail("type Undefined doesn't define __round__ method") }
        guard let number = value.number else {
            throw fail("type \(value.typeName) doesn't define __round__ method")
        }
        if method != "common" {
            // Python rounds an integer to itself.
            if precision >= 0, value.wholeNumber != nil { return .float(number) }
            return .float(try rounded(number, precision, method == "ceil" ? .up : .down))
        }
        guard let whole = value.wholeNumber else {
            try spend(Self.stepsOfPrinting)
            let rounded = Jinja.rounded(number, digits: max(-400, min(400, precision)))
            guard rounded.isFinite || !number.isFinite else { throw fail("rounded value too large to represent") }
            return .float(rounded)
        }
        // Int.min cannot be negated; above 20 the precision makes no difference.
        return .int(precision >= 0 ? whole : try rounded(whole, toPowerOfTen: -max(precision, -20)))
    }

    /// To a multiple of a power of ten, ties to even.
    private func rounded(_ whole: Int, toPowerOfTen power: Int) throws(Fault) -> Int {
        // Half of this power exceeds every 64-bit integer, so the result is zero.
        if power > 19 || power == 19 && whole.magnitude <= 5_000_000_000_000_000_000 { return 0 }
        let step = (0..<min(power, 18)).reduce(1) { result, _ in result * 10 }
        let (quotient, remainder) = whole.quotientAndRemainder(dividingBy: step)
        let half = remainder.magnitude * 2
        let isUp = half > step || (half == step && quotient % 2 != 0)
        let (result, overflow) = (quotient + (isUp ? (whole < 0 ? -1 : 1) : 0)).multipliedReportingOverflow(
            by: step)
        guard power < 19, !overflow else { throw unsupported("a number of more than 64 bits") }
        return result
    }

    private func rounded(
        _ number: Double, _ precision: Int, _ rule: FloatingPointRoundingRule
    ) throws(Fault) -> Double {
        guard precision <= 308 else { throw fail("int too large to convert to float") }
        let scale = pow(10, Double(precision))
        guard scale > 0 else { throw fail("float division by zero") }
        let scaled = number * scale
        guard scaled.isFinite else {
            throw fail("cannot convert float \(Jinja.representation(of: scaled)) to integer")
        }
        return scaled.rounded(rule) / scale
    }

    fileprivate func fileSize(_ bytes: Double, isBinary: Bool) -> String {
        let base: Double = isBinary ? 1024 : 1000
        if bytes == 1 { return "1 Byte" }
        if bytes < base { return "\(Jinja.formatted(bytes.rounded(.towardZero), "f", precision: 0)) Bytes" }
        let prefixes = ["k", "M", "G", "T", "P", "E", "Z", "Y"]
        for (place, prefix) in prefixes.enumerated() {
            let unit = pow(base, Double(place + 2))
            guard bytes < unit || place == prefixes.count - 1 else { continue }
            let name = isBinary ? prefix.uppercased() + "iB" : prefix + "B"
            return "\(Jinja.formatted(base * bytes / unit, "f", precision: 1)) \(name)"
        }
        return ""
    }
}
