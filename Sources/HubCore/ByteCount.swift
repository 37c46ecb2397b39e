/// A number of bytes that reads and prints as people write it: `20GB`, `1.5 GiB`, `137 kB`.
///
/// Decimal units, as disks and the Hub use them; `KiB`, `MiB`, `GiB`, `TiB` are read too.
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
        let factors: [String: Double] = [
            "": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
            "kib": 1024, "mib": 1_048_576, "gib": 1_073_741_824, "tib": 1_099_511_627_776,
        ]
        guard let value = Double(number), let factor = factors[unit], value * factor < 9e18 else {
            throw AIError(.invalidInput, "\"\(text)\" is not a size", advice: "write it like 20GB, 500MB or 1.5GiB")
        }
        bytes = Int64((value * factor).rounded())
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
    /// The sum.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes + right.bytes) }
}
