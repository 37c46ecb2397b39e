import Support
import Testing

/// The terminal that the tests of full screens look at.
@Suite struct TerminalEmulatorTests {
    private func screen(_ text: String, columns: Int = 8, rows: Int = 3) -> TerminalEmulator {
        var terminal = TerminalEmulator(columns: columns, rows: rows)
        terminal.feed(Array(text.utf8))
        return terminal
    }

    @Test(arguments: [
        ("ab\r\nc", ["ab", "c", ""]),
        // The edge: the eighth character does not wrap, the ninth does.
        ("12345678", ["12345678", "", ""]), ("123456789", ["12345678", "9", ""]),
        ("12345678\r\n9", ["12345678", "9", ""]),
        ("a\r\nb\r\nc\r\nd", ["b", "c", "d"]),
        ("\u{1B}[2;3Hx\u{1B}[Hy", ["y", "  x", ""]), ("\u{1B}[3dx", ["", "", "x"]),
        ("\u{1B}[4Gx", ["   x", "", ""]),
        ("abc\u{1B}[2Dx", ["axc", "", ""]), ("a\u{1B}[1B\u{8}x\u{1B}[Ay", ["ay", "x", ""]),
        ("a\u{1B}[2Cb", ["a  b", "", ""]),
        ("abcdef\u{1B}[3G\u{1B}[K", ["ab", "", ""]), ("abcdef\u{1B}[3G\u{1B}[1K", ["   def", "", ""]),
        ("abcdef\u{1B}[3G\u{1B}[2X", ["ab  ef", "", ""]), ("abcdef\u{1B}[2G\u{1B}[2P", ["adef", "", ""]),
        ("abc\u{1B}[2G\u{1B}[2@", ["a  bc", "", ""]), ("x\u{1B}[3by", ["xxxxy", "", ""]),
        ("a\r\nb\r\nc\u{1B}[2;1H\u{1B}[J", ["a", "", ""]), ("a\r\nb\u{1B}[2J", ["", "", ""]),
        ("a\r\nb\r\nc\u{1B}[2;1H\u{1B}[L", ["a", "", "b"]), ("a\r\nb\r\nc\u{1B}[H\u{1B}[M", ["b", "c", ""]),
        ("a\r\nb\r\nc\u{1B}[1;2r\u{1B}[2;1H\n", ["b", "", "c"]), ("a\r\nb\u{1B}[H\u{1B}M", ["", "a", "b"]),
        ("a\u{1B}[S", ["", "", ""]), ("a\tb", ["a       b", "", ""]),
        ("\u{1B}7ab\u{1B}8x", ["xb", "", ""]), ("\u{1B}(B\u{1B})0\u{F}a\u{1B}[m\u{1B}[0;1;7mb", ["ab", "", ""]),
        // Two cells, and marks that take none.
        ("日本x", ["日本x", "", ""]), ("e\u{301}x", ["e\u{301}x", "", ""]), ("1234567日", ["1234567", "日", ""]),
    ]) func whatIsShown(text: String, expected: [String]) {
        let terminal = screen(text, columns: text.contains("\t") ? 10 : 8)
        #expect(terminal.lines == expected)
        #expect(terminal.unknown.isEmpty)
    }

    @Test func theAlternateScreenLeavesTheUsualOneAsItWas() {
        var terminal = screen("ab\u{1B}[?1049h\u{1B}[22;0;0t\u{1B}[?1h\u{1B}=\u{1B}[Hxyz")
        #expect(terminal.lines == ["xyz", "", ""] && terminal.showsAlternate && terminal.sendsApplicationKeys)
        terminal.feed("\u{1B}[?1l\u{1B}>\u{1B}[?1049l\u{1B}[23;0;0tc".utf8)
        #expect(terminal.lines == ["abc", "", ""] && !terminal.showsAlternate && !terminal.sendsApplicationKeys)
        #expect(terminal.modes == ["?7", "?25"] && terminal.unknown.isEmpty)
    }

    @Test func aSequenceMayComeInPieces() {
        var terminal = TerminalEmulator(columns: 8, rows: 2)
        for byte in "a\u{1B}[2;2H日".utf8 { terminal.feed([byte]) }
        #expect(terminal.lines == ["a", " 日"] && terminal.cursor == (1, 3))
    }

    @Test func whatIsNotKnownIsSaid() {
        #expect(screen("\u{1B}[5n\u{1B}Z\u{1B}[?2004h").unknown == ["CSI 5n", "ESC Z", "CSI ?2004h"])
    }

    @Test func anotherSizeKeepsWhatFits() {
        var terminal = screen("abcdef\r\nb\r\nc")
        terminal.resize(columns: 4, rows: 2)
        #expect(terminal.lines == ["abcd", "b"] && terminal.cursor == (1, 1))
        terminal.resize(columns: 6, rows: 3)
        #expect(terminal.lines == ["abcd", "b", ""])
    }
}
