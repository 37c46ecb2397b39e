import HubCore

/// `Content-Range: bytes 0-99/1000`. RFC 9110, section 14.4
struct ContentRange: Hashable {
    var range: Range<Int64>
    /// nil if the server writes `*`.
    var total: Int64?

    init?(_ field: String) {
        guard let rest = field.lowercased().dropping(prefix: "bytes ") else { return nil }
        let halves = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let start = Self.number(bounds[0]), let end = Self.number(bounds[1]), end >= start,
            end < Int64.max
        else { return nil }
        range = start..<end + 1
        total = Self.number(halves[1])
        if total == nil, halves[1] != "*" { return nil }
    }

    /// Digits only: `Int64` would accept a sign.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }
}
