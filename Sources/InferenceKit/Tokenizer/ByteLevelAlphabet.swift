/// The printable characters that stand for bytes in byte-level vocabularies.
///
/// Source: `bytes_to_unicode` of https://github.com/openai/gpt-2/blob/master/src/encoder.py
enum ByteLevelAlphabet {
    /// The character of each byte.
    static let scalars: [Unicode.Scalar] = {
        let printable: (UInt8) -> Bool = { (0x21...0x7E).contains($0) || (0xA1...0xAC).contains($0) || $0 >= 0xAE }
        var next: UInt32 = 256
        return (UInt8.min...UInt8.max).map { byte in
            if printable(byte) { return Unicode.Scalar(byte) }
            defer { next += 1 }
            // From U+0100 to U+0143: always a scalar.
            return Unicode.Scalar(next)!
        }
    }()

    /// The byte of each character, indexed by its code point up to U+0143.
    private static let bytes: [UInt8?] = {
        var table = [UInt8?](repeating: nil, count: 0x144)
        for (byte, scalar) in scalars.enumerated() { table[Int(scalar.value)] = UInt8(byte) }
        return table
    }()

    /// The bytes that a token's characters stand for; nil where one of them stands for none.
    static func bytes(of token: String) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(token.utf8.count)
        for scalar in token.unicodeScalars {
            guard scalar.value < 0x144, let byte = bytes[Int(scalar.value)] else { return nil }
            result.append(byte)
        }
        return result
    }
}
