import HubCore
import Testing

@testable import HubCLI

@Suite struct AgeTests {
    @Test(
        arguments: [
            ("10s", 10), ("7d", 604_800), ("2w", 1_209_600), ("1mo", 2_592_000), ("1y", 31_536_000), ("0d", 0),
            ("5m", 300),
            ("12h", 43_200),
        ] as [(String, Int64)])
    func reads(_ text: String, _ seconds: Int64) throws { #expect(try Age(parsing: text).seconds == seconds) }

    @Test(arguments: ["", "30", "d", "-1d", "1.5d", "1 d", "1D", "1month", "9999999999999y", "٣d", "1d2h"])
    func refuses(_ text: String) { #expect(throws: AIError.self) { try Age(parsing: text) } }

    @Test func prints() throws {
        for text in ["10s", "2w", "1mo", "1y", "0d", "36h"] { #expect(try Age(parsing: text).description == text) }
        #expect(try Age(parsing: "7d").description == "1w")
        #expect(try Age(parsing: "5m").description == "5min")
    }
}

@Suite struct HumanizeTests {
    /// The golden vectors are those of huggingface_hub 2.4.0.
    @Test(
        arguments: [
            (5, "a few seconds ago"), (25, "25 seconds ago"), (61, "1 minute ago"), (5 * 3600, "5 hours ago"),
            (3 * 86_400, "3 days ago"), (10 * 86_400, "1 week ago"), (40 * 86_400, "6 weeks ago"),
            (400 * 86_400, "1 year ago"), (-5, "a few seconds ago"), (-3600, "in the future"),
        ] as [(Double, String)])
    func ages(_ seconds: Double, _ text: String) { #expect(Humanize.age(of: 1e9, now: 1e9 + seconds) == text) }

    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "1.0k"), (1234, "1.2k"), (99_949, "99.9k"), (99_950, "100k"),
            (123_456, "123k"),
            (999_499, "999k"), (999_950, "1.0M"), (1_234_567, "1.2M"), (7_000_000_000, "7.0B"), (-1500, "-1.5k"),
        ] as [(Int64, String)])
    func counts(_ number: Int64, _ text: String) { #expect(Humanize.count(number) == text) }

    @Test(
        arguments: [
            (0, "0.0 s"), (0.44, "0.4 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min"),
            (80, "1 min 20 s"),
            (3600, "1 h"), (7500, "2 h 5 min"), (86_400 * 3 + 4 * 3600, "3 d 4 h"), (.infinity, "very long"),
            (-1, "0.0 s"),
        ] as [(Double, String)])
    func durations(_ seconds: Double, _ text: String) { #expect(Humanize.duration(seconds) == text) }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199.9, "2024-02-29T23:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"), (4_102_444_800, "2100-01-01T00:00:00Z"),
        ] as [(Double, String)])
    func timestamps(_ seconds: Double, _ text: String) { #expect(Timestamp.iso8601(seconds) == text) }

    @Test func others() {
        #expect(Humanize.plural(1, "file") == "1 file")
        #expect(Humanize.plural(0, "file") == "0 files")
        #expect(Humanize.plural(2, "entry", "entries") == "2 entries")
        #expect(Humanize.plural(1_115_264, "file") == "1,115,264 files" && Humanize.grouped(-1234) == "-1,234")
        #expect([1980.4, 35, 9.96, 3.52, 0.351].map(Humanize.perSecond) == ["1,980", "35", "10", "3.5", "0.35"])
        #expect(Humanize.rate(118_400_000) == "118 MB/s")
    }
}

@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("ﾊ", 1),
        ("Ａ", 2), ("🙂", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤", 1), ("❤️", 2), ("👍🏽", 2), ("a\u{200B}b", 2), ("…", 1), ("━", 1),
        ("ñ日", 3),
    ])
    func widths(_ text: String, _ width: Int) { #expect(DisplayWidth.of(text) == width) }

    @Test func cutting() {
        #expect(DisplayWidth.fit("abcdef", 6) == "abcdef")
        #expect(DisplayWidth.fit("abcdef", 5) == "abcd…")
        #expect(DisplayWidth.fit("abcdefgh", 5, .middle) == "ab…gh")
        #expect(DisplayWidth.fit("abcdefgh", 6, .middle) == "abc…gh")
        #expect(DisplayWidth.fit("日本語日本語", 6) == "日本…")
        #expect(DisplayWidth.fit("日本語日本語", 6, .middle) == "日…語")
        #expect(DisplayWidth.fit("abc", 1) == "…")
        #expect(DisplayWidth.fit("abc", 0) == "")
        #expect(DisplayWidth.fit("abcdef", 4, ellipsis: "~") == "abc~")
    }

    @Test func nothingCutIsEverTooWide() {
        let text = "a日🙂e\u{301}👩‍👩‍👧b한c"
        for width in 0...DisplayWidth.of(text) {
            #expect(DisplayWidth.of(DisplayWidth.fit(text, width)) <= width)
            #expect(DisplayWidth.of(DisplayWidth.fit(text, width, .middle)) <= width)
        }
    }
}

/// Lines that people read are broken between words.
@Suite struct WrappedLineTests {
    @Test func furtherLinesAreIndentedAsTheFirst() {
        let text = Styled("  moved: ", .strong) + Styled("run hub trash empty  to free")
        let lines = text.wrapped(16)
        #expect(lines.map(\.plain) == ["  moved: run hub", "  trash empty", "  to free"])
        #expect(lines[0].runs.contains(.init(text: "moved:", style: .strong)))
        #expect(text.wrapped(80) == [text])
    }

    @Test func aWordIsNeverBroken() {
        #expect(
            Styled("in /a/very/long/path it is").wrapped(8).map(\.plain) == ["in", "/a/very/long/path", "it is"])
        // A word of two styles is one.
        let two = Styled("a b", .name) + Styled("c: d", .faint)
        #expect(two.wrapped(4).map(\.plain) == ["a", "bc:", "d"])
    }

    @Test func definitionsStandBelowTheirTermsWhereThereIsNoRoom() {
        let entries = [(term: "--long-flag VALUE", text: "what it does, in some words")]
        #expect(
            TextWrap.definitions(entries, width: 30) == [
                "  --long-flag VALUE", "    what it does, in some", "    words",
            ])
        #expect(
            TextWrap.definitions(entries, width: 60) == ["  --long-flag VALUE  what it does, in some words"])
    }
}

@Suite struct SafeTextTests {
    @Test func controlsAreShownInsteadOfSent() {
        #expect(SafeText.line("a\u{1B}[31mb") == "a␛[31mb")
        #expect(SafeText.line("a\nb\tc\rd") == "a b c d")
        #expect(SafeText.lines("a\nb\tc\rd") == "a\nb\tc␍d")
        #expect(SafeText.line("\u{7F}\u{9B}31m\u{0}") == "␡�31m␀")
        #expect(SafeText.line("x\u{202E}fdp.exe") == "x�fdp.exe")
        #expect(SafeText.line("日本 👩‍👩‍👧") == "日本 👩‍👩‍👧")
    }
}
