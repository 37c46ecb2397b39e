/// How many cells of a terminal a text takes.
///
/// Not the C library's wcwidth: it depends on the current locale, knows scalars but not the graphemes that terminals
/// now draw as one, and differs between the systems.
enum DisplayWidth {
    /// The width of a text without control characters; see ``SafeText``.
    static func of(_ text: String) -> Int {
        // Nearly everything is ASCII, where a byte is a cell. "\r\n" is one Character, but no text here holds it.
        let utf8 = text.utf8
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The width of one grapheme: 0, 1 or 2.
    static func of(_ character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            if scalar == "\u{FE0F}" {
                // An emoji picture is asked for: "❤" is one cell, "❤️" two.
                if width == 1 { width = 2 }
            } else {
                width = max(width, of(scalar))
            }
        }
        return width
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.value == 0xAD ? 0 : 1 }
        if wide.contains(where: { $0.contains(scalar.value) }) || scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator: return 0
        default: return 1
        }
    }

    /// The wide (W) and full-width (F) ranges of https://www.unicode.org/Public/UNIDATA/EastAsianWidth.txt less the
    /// emoji, which their own property covers; unassigned gaps between wide neighbours count as wide.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0xA4C6, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}

/// Which end of a text that is too long goes.
enum Truncation: Sendable {
    case end
    /// For paths whose names tell them apart.
    case start
    /// For names whose ends tell them apart: `model-000…02.safetensors`.
    case middle
}

extension DisplayWidth {
    /// The text, cut to `width` cells with the ellipsis in it where it is longer.
    static func fit(_ text: String, _ width: Int, _ truncation: Truncation = .end, ellipsis: String = "…") -> String
    {
        if of(text) <= width { return text }
        let room = width - of(ellipsis)
        guard room > 0 else { return String(ellipsis.prefix(max(width, 0))) }
        switch truncation {
        case .end: return prefix(text, room) + ellipsis
        case .start: return ellipsis + suffix(text, room)
        case .middle:
            let tail = suffix(text, room / 2)
            // A wide character may leave a cell of the tail's half; the head takes it.
            return prefix(text, room - of(tail)) + ellipsis + tail
        }
    }

    private static func prefix(_ text: String, _ width: Int) -> String {
        var used = 0
        return String(
            text.prefix {
                used += of($0); return used <= width
            })
    }

    static func suffix(_ text: String, _ width: Int) -> String {
        var used = 0
        let count = text.reversed().prefix {
            used += of($0); return used <= width
        }.count
        return String(text.suffix(count))
    }
}
