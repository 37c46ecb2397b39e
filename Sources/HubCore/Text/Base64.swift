/// Base64 with padding. RFC 4648, section 4
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The number of characters for so many bytes.
    package static func length(of bytes: Int64) -> Int64 { (bytes + 2) / 3 * 4 }

    /// The characters of some bytes.
    package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(Int(length(of: Int64(bytes.count))))
        var (word, count) = (UInt32(0), 0)
        func digit(_ shift: UInt32) -> UInt8 { digits[Int(word >> shift & 63)] }
        for byte in bytes {
            word = word << 8 | UInt32(byte)
            count += 1
            guard count == 3 else { continue }
            out.append(digit(18))
            out.append(digit(12))
            out.append(digit(6))
            out.append(digit(0))
            (word, count) = (0, 0)
        }
        let padding = UInt8(ascii: "=")
        if count == 1 {
            word <<= 16
            out += [digit(18), digit(12), padding, padding]
        } else if count == 2 {
            word <<= 8
            out += [digit(18), digit(12), digit(6), padding]
        }
        return out
    }

    /// The text of some bytes.
    package static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: encode(bytes), as: UTF8.self) }

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
