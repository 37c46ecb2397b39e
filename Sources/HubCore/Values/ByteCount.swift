/// A number of bytes that reads and prints as people write it: `20GB`, `1.5 GiB`, `137 kB`.
///
/// Decimal units, as disks and the Hub use them; `KiB`, `MiB`, `GiB`, `TiB`, `PiB` are read too.
public struct ByteCount: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The bytes.
    public var bytes: Int64

    /// A count of bytes.
    public init(_ bytes: Int64) { self.bytes = bytes }

    /// Reads `20GB`, `1.5 GiB`, `500M`, `4096`. Case does not matter.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for anything else, for negative numbers and for what exceeds 8 EB.
    public init(parsing text: String) throws(AIError) {
        let trimmed = text.filter { $0 != " " && $0 != "_" }
        let number = trimmed.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = trimmed.dropFirst(number.count).lowercased()
        let thousand: Int64 = 1000
        let (mega, giga) = (thousand * thousand, thousand * thousand * thousand)
        let factors: [String: Int64] = [
            "": 1, "b": 1, "k": thousand, "kb": thousand, "m": mega, "mb": mega, "g": giga, "gb": giga,
            "t": giga * thousand, "tb": giga * thousand, "p": giga * mega, "pb": giga * mega, "e": giga * giga,
            "eb": giga * giga, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
        ]
        guard let factor = factors[unit], let bytes = Self.product(number, factor), bytes <= 9 * giga * giga else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a size", advice: "write it like 20GB, 500MB or 1.5GiB")
        }
        self.bytes = bytes
    }

    /// Whole numbers are exact: a Double would round them from 9 PB on.
    private static func product(_ number: Substring, _ factor: Int64) -> Int64? {
        if let whole = Int64(number) {
            let (bytes, overflow) = whole.multipliedReportingOverflow(by: factor)
            return overflow ? nil : bytes
        }
        guard let value = Double(number), value * Double(factor) < 9.1e18 else { return nil }
        return Int64((value * Double(factor)).rounded())
    }

    /// `0 B`, `999 B`, `1.0 kB`, `5.3 MB`, `140 GB`: three figures, the way a file manager shows it.
    public var description: String {
        guard bytes.magnitude >= 1000 else { return "\(bytes) B" }
        var value = Double(bytes)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB", "PB", "EB"] {
            value /= 1000
            unit = next
            // 999.95 kB would print as 1000 kB; it is 1.0 MB.
            if value.magnitude < 999.5 { break }
        }
        if value.magnitude >= 99.95 { return "\(Int(value.rounded())) \(unit)" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10)) \(unit)"
    }

    /// The same as `description`.
    public var formatted: String { description }

    /// By number of bytes.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
    /// The sum, saturating, because sizes come from servers.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount {
        let (sum, overflow) = left.bytes.addingReportingOverflow(right.bytes)
        return ByteCount(overflow ? (right.bytes < 0 ? .min : .max) : sum)
    }
}
