import HubCore
import Support
import Testing

@Suite struct GlobPatternTests {
    /// Trap 39: fnmatch on the whole path, not a shell's globs.
    @Test func patternsMatchAsPythonsFnmatchcaseSays() throws {
        let cases = try #require(try JSON.parse(Fixtures.bytes("fnmatch.json")).array)
        #expect(cases.count > 900)
        for entry in cases {
            let (pattern, path) = (try #require(entry.array?[0].string), try #require(entry.array?[1].string))
            #expect(GlobPattern(pattern).matches(path) == entry.array?[2].bool, "\(pattern) on \(path)")
        }
    }

    /// The golden vectors are those of huggingface_hub 2.4.0.
    @Test(
        arguments: [
            ("*.json", ["a.json", "d/a.json"]), ("d/", ["d/a.json", "d/e/f.bin"]),
            ("d/*", ["d/a.json", "d/e/f.bin"]),
            ("**/*.bin", ["d/e/f.bin"]), ("?.json", ["a.json"]), ("x[1].txt", []), ("d\\*.json", ["d/a.json"]),
            ("*", ["a.json", "d/a.json", "A.JSON", "x[1].txt", "d/e/f.bin"]), ("d\\", ["d/a.json", "d/e/f.bin"]),
        ] as [(String, [String])])
    func aFilterTakesWhatTheHubsOwnClientTakes(_ pattern: String, _ expected: [String]) {
        let files = ["a.json", "d/a.json", "A.JSON", "x[1].txt", "d/e/f.bin"]
        let filter = FileFilter(include: [pattern])
        #expect(files.filter(filter.matches) == expected)
    }

    @Test func anEmptyIncludeTakesNothingAndAnAbsentOneEverything() {
        #expect(!FileFilter(include: []).matches("a"))
        #expect(FileFilter(include: nil).matches("a"))
        #expect(FileFilter.all.matches("a") && FileFilter(exclude: []).matches("a"))
    }

    @Test func anExcludeWinsOverEveryInclude() {
        let filter = FileFilter(include: ["*.json", "*.bin"], exclude: ["d/", "b*"])
        #expect(["a.json", "b.json", "d/a.json", "c.bin", "c.txt"].filter(filter.matches) == ["a.json", "c.bin"])
    }

    @Test func aPatternThatBacktracksForeverElsewhereIsDecidedAtOnce() {
        let pattern = GlobPattern(String(repeating: "*a", count: 200) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 1000)))
    }

    @Test(arguments: ["a*", "?", "x[1]", "*\u{301}"])
    func aPatternIsKnownByItsCharacters(_ text: String) { #expect(GlobPattern.isPattern(text)) }

    @Test(arguments: ["", "a/b.txt", "a]", "{a,b}"])
    func aPlainNameIsNoPattern(_ text: String) { #expect(!GlobPattern.isPattern(text)) }

    @Test func aPatternReadsAsItWasWritten() {
        #expect(GlobPattern("d\\").description == "d\\")
    }
}
