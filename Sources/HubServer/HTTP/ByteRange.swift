/// The range that a `Range` header requests of content of known length.
/// https://www.rfc-editor.org/rfc/rfc9110#section-14.2
package enum ByteRange: Sendable, Equatable {
    /// The whole content: no header, or one that RFC 9110 says to ignore (another unit, bad syntax, several ranges,
    /// which would need a multipart answer that no client of the Hub asks for).
    case whole
    /// These bytes: 206.
    case part(Range<Int64>)
    /// The range lies outside the content: 416.
    case unsatisfiable

    package init(header: String?, length: Int64) {
        self = header.flatMap { Self.parse($0, length) } ?? .whole
    }

    private static func parse(_ header: String, _ length: Int64) -> ByteRange? {
        let text = header.filter { $0 != " " && $0 != "\t" }
        guard text.lowercased().hasPrefix("bytes=") else { return nil }
        let spec = text.dropFirst(6)
        guard let dash = spec.firstIndex(of: "-") else { return nil }
        let (first, last) = (spec[..<dash], spec[spec.index(after: dash)...])
        // Digits only: Int64 would accept a sign. A number too large for 64 bits is beyond any file.
        guard (first + last).utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        func number(_ digits: Substring) -> Int64 { Int64(digits) ?? .max }
        switch (first.isEmpty, last.isEmpty) {
        case (true, true): return nil
        case (true, false):
            let count = min(number(last), length)
            return count == 0 ? .unsatisfiable : .part(length - count..<length)
        case (false, true):
            let start = number(first)
            return start < length ? .part(start..<length) : .unsatisfiable
        case (false, false):
            let (start, end) = (number(first), number(last))
            guard start <= end else { return nil }
            return start < length ? .part(start..<min(end, length - 1) + 1) : .unsatisfiable
        }
    }
}
