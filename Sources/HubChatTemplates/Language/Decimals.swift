import Libc

/// Numbers as Python writes them.
extension Jinja {
    /// `repr` of a float: the shortest digits that round-trip, with an exponent from 1e16 on and below 1e-4.
    static func representation(of value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        if value == 0 { return value.sign == .minus ? "-0.0" : "0.0" }
        let (digits, exponent) = shortestDigits(value.magnitude)
        let sign = value < 0 ? "-" : ""
        if exponent < -4 || exponent >= 16 {
            let fraction = digits.dropFirst()
            let point = fraction.isEmpty ? "" : "." + fraction
            let size = String(exponent.magnitude)
            let padded = size.count < 2 ? "0" + size : size
            return "\(sign)\(digits.prefix(1))\(point)e\(exponent < 0 ? "-" : "+")\(padded)"
        }
        if exponent < 0 { return "\(sign)0.\(String(repeating: "0", count: -exponent - 1))\(digits)" }
        let whole = digits.prefix(exponent + 1)
        let zeros = String(repeating: "0", count: exponent + 1 - whole.count)
        let fraction = digits.dropFirst(exponent + 1)
        return "\(sign)\(whole)\(zeros).\(fraction.isEmpty ? "0" : fraction)"
    }

    /// The digits of a positive number without leading or trailing zeros, and the first one's power of ten.
    private static func shortestDigits(_ value: Double) -> (digits: Substring, exponent: Int) {
        // Swift's description has the same digits, but a different rule for the exponent.
        let parts = "\(value)".split(separator: "e")
        let number = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let whole = number[0]
        let fraction = number.count > 1 ? number[1] : ""
        let all = String(whole + fraction)
        let leading = all.prefix { $0 == "0" }.count
        var digits = all.dropFirst(leading)
        while digits.last == "0" { digits.removeLast() }
        let given = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        return (digits, given + whole.count - 1 - leading)
    }

    /// As C's `%.*f`, `%.*e` or `%.*g`, correctly rounded; `precision` is not negative.
    static func formatted(_ value: Double, _ conversion: Character, precision: Int, keepsZeros: Bool = false)
        -> String
    {
        // C writes a sign before some of these.
        if value.isNaN { return conversion.isUppercase ? "NAN" : "nan" }
        let format = "%\(keepsZeros ? "#" : "").*\(conversion)"
        // The largest double has 309 digits before its point.
        var buffer = [CChar](repeating: 0, count: precision + 400)
        let count = withVaList([Int32(clamping: precision), value]) { vsnprintf(&buffer, buffer.count, format, $0) }
        return String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `round(value, digits)`: to nearest, ties to even, of the exact value.
    static func rounded(_ value: Double, digits: Int) -> Double {
        // A step below half an ulp cannot change the value.
        guard value.isFinite, digits <= 323, pow(10, Double(-digits)) >= value.ulp / 4 else { return value }
        if digits < -308 { return value < 0 ? -0.0 : 0.0 }
        if digits >= 0 { return Double(formatted(value, "f", precision: digits)) ?? value }
        let scale = pow(10, Double(-digits))
        return (value / scale).rounded(.toNearestOrEven) * scale
    }
}
