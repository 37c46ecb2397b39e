import HubCore

/// A bound of a number, as its decimal digits.
struct DecimalBound: Hashable, Sendable {
    var isNegative = false
    /// Before the point, without leading zeros; `[0]` for none.
    var whole: [UInt8] = [0]
    /// Behind it, without trailing zeros.
    var fraction: [UInt8] = []
    /// Whether the number itself is out of bounds.
    var isExclusive = false

    static let zero = DecimalBound()

    var isZero: Bool { whole == [0] && fraction.isEmpty }

    init() {}

    /// A JSON number.
    init?(_ number: JSON?, isExclusive: Bool) {
        let text: String
        switch number {
        case .int(let value)?: text = String(value)
        case .longNumber(let digits)?: text = digits
        case .double(let value)? where value.isFinite: text = "\(value)"
        default: return nil
        }
        self.isExclusive = isExclusive
        let parts = text.lowercased().split(separator: "e")
        let mantissa = parts[0].split(separator: ".")
        let digits = mantissa.map { $0.utf8.filter { $0 != UInt8(ascii: "-") }.map { $0 - UInt8(ascii: "0") } }
        var point = digits[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        var all = digits.flatMap { $0 }
        if point < 0 {
            all = Array(repeating: 0, count: -point) + all
            point = 0
        }
        if point > all.count { all += Array(repeating: 0, count: point - all.count) }
        whole = Array(all[..<point].drop { $0 == 0 })
        if whole.isEmpty { whole = [0] }
        fraction = Array(all[point...])
        while fraction.last == 0 { fraction.removeLast() }
        isNegative = text.hasPrefix("-") && !isZero
    }

    /// The number without its sign.
    var magnitude: DecimalBound {
        var copy = self
        copy.isNegative = false
        return copy
    }

    /// The shortest way to write it without an exponent.
    var spelling: String {
        func text(_ digits: [UInt8]) -> String { digits.map(String.init).joined() }
        return (isNegative ? "-" : "") + text(whole) + (fraction.isEmpty ? "" : "." + text(fraction))
    }

    /// Whether this is before another.
    func isLess(_ other: DecimalBound) -> Bool {
        if isNegative != other.isNegative { return isNegative }
        return isNegative ? other.isNearerZero(self) : isNearerZero(other)
    }

    private func isNearerZero(_ other: DecimalBound) -> Bool {
        if whole != other.whole {
            return whole.count != other.whole.count
                ? whole.count < other.whole.count : whole.lexicographicallyPrecedes(other.whole)
        }
        return fraction.lexicographicallyPrecedes(other.fraction)
    }

    /// The next number away from zero with at most so many digits behind the point, if this has more.
    func roundedUp(_ places: Int) -> DecimalBound {
        guard fraction.count > places else { return self }
        var digits = whole + fraction.prefix(places)
        var at = digits.count - 1
        while at >= 0, digits[at] == 9 {
            digits[at] = 0
            at -= 1
        }
        if at < 0 { digits.insert(1, at: 0) } else { digits[at] += 1 }
        var result = self
        result.whole = Array(digits.dropLast(places))
        result.fraction = Array(digits.suffix(places))
        while result.fraction.last == 0 { result.fraction.removeLast() }
        result.isExclusive = false
        return result
    }

    /// The number with at most so many digits behind the point that is nearest towards zero.
    func roundedDown(_ places: Int) -> DecimalBound {
        guard fraction.count > places else { return self }
        var result = self
        result.fraction = Array(fraction.prefix(places))
        while result.fraction.last == 0 { result.fraction.removeLast() }
        result.isExclusive = false
        return result
    }
}
