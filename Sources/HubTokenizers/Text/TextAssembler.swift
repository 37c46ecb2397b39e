/// Converts streamed bytes to text, never half a character.
///
/// The joined output equals the whole decoded at once: invalid UTF-8 becomes U+FFFD, one for each maximal subpart (the
/// Unicode Standard, section 3.9, "U+FFFD Substitution of Maximal Subparts").
struct TextAssembler {
    private var pending: [UInt8] = []

    /// The text that is complete now.
    mutating func add(_ bytes: [UInt8]) -> String {
        pending += bytes
        let held = Self.unfinishedTail(pending)
        let text = String(decoding: pending.dropLast(held), as: UTF8.self)
        pending.removeFirst(pending.count - held)
        return text
    }

    /// The rest at the end of input.
    mutating func finish() -> String {
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }

    /// Whether more bytes could make these a character.
    static func isUnfinished(_ bytes: ArraySlice<UInt8>) -> Bool { unfinishedTail(Array(bytes)) == bytes.count }

    /// How many bytes at the end begin a character that more bytes could finish (0 to 3).
    private static func unfinishedTail(_ bytes: [UInt8]) -> Int {
        for length in 1...3 where length <= bytes.count {
            let lead = bytes[bytes.count - length]
            if lead & 0xC0 == 0x80 { continue }
            let needed =
                switch lead {
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                default: 1
                }
            if needed <= length { return 0 }
            if length >= 2 {
                // Table 3-7 of the Unicode Standard: some leads narrow the second byte.
                let second = bytes[bytes.count - length + 1]
                let allowed: ClosedRange<UInt8> =
                    switch lead {
                    case 0xE0: 0xA0...0xBF
                    case 0xED: 0x80...0x9F
                    case 0xF0: 0x90...0xBF
                    case 0xF4: 0x80...0x8F
                    default: 0x80...0xBF
                    }
                if !allowed.contains(second) { return 0 }
            }
            return length
        }
        return 0
    }
}
