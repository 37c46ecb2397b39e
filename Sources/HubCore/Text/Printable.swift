extension String {
    /// This text with control characters (C0, DEL, C1, bidirectional overrides) shown as `\u{1B}`, so that server text
    /// cannot control a terminal.
    package var printable: String {
        var out = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069:
                out += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
