import CCrypto

/// Base64 with padding. RFC 4648, section 4
package enum Base64 {
    /// The number of characters for so many bytes.
    package static func length(of bytes: Int64) -> Int64 { (bytes + 2) / 3 * 4 }

    /// The characters of some bytes, at most a gigabyte.
    package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let input = Array(bytes)
        // "The output is always NUL terminated." EVP_EncodeBlock(3)
        let room = Int(length(of: Int64(input.count))) + 1
        return [UInt8](unsafeUninitializedCapacity: room) { output, count in
            count = Int(EVP_EncodeBlock(output.baseAddress, input, Int32(input.count)))
        }
    }

    /// The text of some bytes.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: encode(bytes), as: UTF8.self)
    }

    /// The decoded bytes of a text, padded or not; nil if invalid.
    package static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var word: UInt32 = 0
        var count = 0
        for unit in text.utf8 {
            let value: UInt8
            switch unit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = unit - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = unit - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = unit - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            case UInt8(ascii: "="): continue
            default: return nil
            }
            word = word << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 {
                bytes += [UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 8)]
                bytes.append(UInt8(truncatingIfNeeded: word))
            }
        }
        switch count % 4 {
        case 2: bytes.append(UInt8(truncatingIfNeeded: word >> 4))
        case 3: bytes += [UInt8(truncatingIfNeeded: word >> 10), UInt8(truncatingIfNeeded: word >> 2)]
        case 1: return nil
        default: break
        }
        return bytes
    }
}
