/// Texts from elsewhere (names on the Hub, file names, answers of servers, what models say) made safe for a terminal.
///
/// An escape sequence in a file name could repaint the screen or change what the next line seems to say.
enum SafeText {
    /// For one line: control characters become visible, tabs and line ends a space.
    static func line(_ text: String) -> String { replacing(text, keepsLines: false) }

    /// For a text of several lines: tabs and line feeds stay.
    static func lines(_ text: String) -> String { replacing(text, keepsLines: true) }

    private static func replacing(_ text: String, keepsLines: Bool) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A: safe.append(keepsLines ? scalar : " ")
            case 0x0D where !keepsLines: safe.append(" ")
            // ESC becomes ␛: the control pictures stand in the order of the controls.
            case 0x00...0x1F: safe.append(Unicode.Scalar(0x2400 + scalar.value)!)
            case 0x7F: safe.append("\u{2421}")
            // C1 controls; line and paragraph separators.
            case 0x80...0x9F, 0x2028, 0x2029: safe.append("\u{FFFD}")
            // Marks that turn the direction of writing, so that a name could read as another; the byte order mark.
            case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: safe.append("\u{FFFD}")
            default: safe.append(scalar)
            }
        }
        return String(safe)
    }
}
