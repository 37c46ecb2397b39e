/// The printable characters that stand for bytes in byte-level vocabularies.
///
/// Source: `bytes_to_unicode` of https://github.com/openai/gpt-2/blob/master/src/encoder.py
enum ByteLevelAlphabet {
    /// The character of each byte as UTF-8, one or two bytes long: they are U+0021 to U+0143.
    private static let spellings: [[UInt8]] = {
        let printable: (UInt8) -> Bool = { (0x21...0x7E).contains($0) || (0xA1...0xAC).contains($0) || $0 >= 0xAE }
        var next: UInt32 = 256
        return (UInt8.min...UInt8.max).map { byte in
            if printable(byte) { return Array(UTF8.encode(Unicode.Scalar(byte))!) }
            defer { next += 1 }
            // From U+0100 to U+0143: always a scalar.
            return Array(UTF8.encode(Unicode.Scalar(next)!)!)
        }
    }()

    /// The byte of each character, indexed by its code point up to U+0143.
    private static let bytes: [UInt8?] = {
        var table = [UInt8?](repeating: nil, count: 0x144)
        for (byte, spelling) in spellings.enumerated() {
            for scalar in String(decoding: spelling, as: UTF8.self).unicodeScalars {
                table[Int(scalar.value)] = UInt8(byte)
            }
        }
        return table
    }()

    /// The bytes that a token's characters, given as UTF-8, stand for; nil if one of them stands for none.
    static func bytes(of token: some Collection<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        return append(token, to: &result) ? result : nil
    }

    /// Appends the bytes that a token's characters stand for.
    ///
    /// - Returns: false, with nothing appended, if one of them stands for none.
    static func append(_ token: some Collection<UInt8>, to result: inout [UInt8]) -> Bool {
        let start = result.count
        var lead: UInt8?
        for unit in token {
            let scalar: Int
            if let first = lead {
                scalar = Int(first & 0x1F) << 6 | Int(unit & 0x3F)
                lead = nil
            } else if unit < 0x80 {
                scalar = Int(unit)
            } else if unit < 0xE0 {
                lead = unit
                continue
            } else {
                result.removeSubrange(start...)
                return false
            }
            guard scalar < bytes.count, let byte = bytes[scalar] else {
                result.removeSubrange(start...)
                return false
            }
            result.append(byte)
        }
        return true
    }

    /// The characters that stand for some bytes, as UTF-8.
    static func spelling(of bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(2 * bytes.count)
        for byte in bytes { result += spellings[Int(byte)] }
        return result
    }
}
