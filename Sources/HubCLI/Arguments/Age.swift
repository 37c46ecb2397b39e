import HubCore

/// A length of time: `30d`, `2w`, `1mo`, `0d`.
struct Age: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The length in seconds.
    var seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    /// A month is 30 days and a year 365, as the Hub's own client counts them. A number needs its unit, for `30` alone
    /// could be anything, and what is older than this may be deleted.
    private static let units: [(name: String, seconds: Int64)] = [
        ("s", 1), ("m", 60), ("min", 60), ("h", 3600), ("d", 86_400), ("w", 604_800), ("mo", 2_592_000),
        ("y", 31_536_000),
    ]

    /// Reads a whole number and its unit: s, m or min, h, d, w, mo or y.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for anything else.
    init(parsing text: String) throws(AIError) {
        guard let age = Age(text) else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a length of time",
                advice: "write a number and s, m, h, d, w, mo or y, such as 5m")
        }
        self = age
    }

    /// Reads how old something has to be to be deleted. There `m` alone is refused: many take it for months.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for anything else.
    init(ofUse text: String) throws(AIError) {
        guard let age = Age(text) else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not an age",
                advice: "write it like 30d, 2w, 1mo, 1y, 12h or 0d")
        }
        guard text.drop(while: \.isNumber) != "m" else {
            let number = text.dropLast()
            throw AIError(
                .invalidInput, "\(text) could be minutes or months", advice: "write \(number)mo or \(number)min")
        }
        self = age
    }

    private init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count)
        guard let number = Int64(digits), let factor = Age.units.first(where: { $0.name == unit })?.seconds,
            case let (product, overflow) = number.multipliedReportingOverflow(by: factor), !overflow
        else { return nil }
        seconds = product
    }

    /// In the largest unit that divides it: `2w`.
    var description: String {
        guard seconds > 0 else { return "0d" }
        let unit = Age.units.last { seconds % $0.seconds == 0 }!
        return "\(seconds / unit.seconds)\(unit.name)"
    }

    static func < (left: Age, right: Age) -> Bool { left.seconds < right.seconds }
}
