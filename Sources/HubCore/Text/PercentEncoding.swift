/// Percent-encoding for the Hub's addresses.
package enum PercentEncoding {
    /// Everything but `A`-`Z a`-`z 0`-`9 - . _ ~` and what `keeping` names becomes `%XX`, upper case.
    package static func encode(_ text: String, keeping: String = "") -> String {
        let kept = Set(keeping.utf8)
        var out = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where kept.contains(byte): out.unicodeScalars.append(Unicode.Scalar(byte))
            default: out += "%" + [byte].hexadecimal.uppercased()
            }
        }
        return out
    }

    /// The text with `%XX` decoded; nil for a bad escape or invalid UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16),
                high != UInt8(ascii: "+"), high != UInt8(ascii: "-")
            else { return nil }
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
