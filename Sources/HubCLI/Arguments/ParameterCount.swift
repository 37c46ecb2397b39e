import HubCore

/// A number of parameters as people write it: `7B`, `500M`, `1.5e9`.
struct ParameterCount: Sendable, Hashable {
    var number: Int64

    /// Reads a number, also with an exponent, and K, M, B or T behind it, in any case.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for anything else, for less than none and for what has no place in 64 bits.
    init(parsing text: String) throws(AIError) {
        let trimmed = text.filter { $0 != " " && $0 != "_" }
        let units: [Character: Double] = ["k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12]
        let unit = trimmed.last.flatMap { units[Character($0.lowercased())] }
        let figures = unit == nil ? trimmed : String(trimmed.dropLast())
        // Double reads hexadecimal numbers and the names of numbers, too.
        guard figures.allSatisfy({ $0.isASCII && ($0.isNumber || ".eE+".contains($0) || $0 == "-") }),
            figures.first?.isNumber == true || figures.first == ".", let value = Double(figures),
            value * (unit ?? 1) < 9.2e18
        else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a number of parameters",
                advice: "write it like 7B, 500M or 1.5e9")
        }
        number = Int64((value * (unit ?? 1)).rounded())
    }
}
