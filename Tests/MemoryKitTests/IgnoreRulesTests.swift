import Testing

@testable import MemoryKit

/// Patterns of `.gitignore`, with the examples of its manual.
@Suite struct IgnoreRulesTests {
    private func ignores(_ text: String, _ path: String, isFolder: Bool = false) -> Bool? {
        IgnoreRules(text).ignores(path, isFolder: isFolder)
    }

    @Test func namesMatchAnywhereAndPathsFromTheFolder() {
        #expect(ignores("hello.*", "a/hello.txt") == true)
        #expect(ignores("/hello.*", "a/hello.txt") == nil)
        #expect(ignores("/hello.*", "hello.c") == true)
        #expect(ignores("foo/*", "foo/test.json") == true)
        #expect(ignores("foo/*", "foo/bar/hello.c") == nil)
        #expect(ignores("doc/frotz", "a/doc/frotz", isFolder: true) == nil)
        #expect(ignores("frotz/", "a/frotz", isFolder: true) == true)
        #expect(ignores("frotz/", "frotz") == nil)
    }

    @Test func twoStarsCrossFolders() {
        #expect(ignores("**/foo", "a/b/foo") == true)
        #expect(ignores("**/foo", "foo") == true)
        #expect(ignores("abc/**", "abc/d/e") == true)
        #expect(ignores("a/**/b", "a/b") == true)
        #expect(ignores("a/**/b", "a/x/y/b") == true)
        #expect(ignores("a/**/b", "a/xb") == nil)
    }

    @Test func theLastPatternCounts() {
        #expect(ignores("*.log\n!keep.log\n", "keep.log") == false)
        #expect(ignores("!keep.log\n*.log\n", "keep.log") == true)
        #expect(ignores("# *.c\n\n", "a.c") == nil)
        #expect(ignores("\\#x", "#x") == true)
        #expect(ignores("trailing   ", "trailing") == true)
    }

    @Test func classesAndEscapes() {
        #expect(ignores("[a-c].txt", "b.txt") == true)
        #expect(ignores("[!a-c].txt", "b.txt") == nil)
        #expect(ignores("[]].txt", "].txt") == true)
        #expect(ignores("[x.txt", "[x.txt") == true)
        #expect(ignores("a?c", "a/c") == nil)
        #expect(ignores("\\*", "*") == true)
        #expect(ignores("\\*", "a") == nil)
    }

    @Test func manyStarsEndSoon() {
        let pattern = String(repeating: "*a", count: 60) + "b"
        #expect(ignores(pattern, String(repeating: "a", count: 400)) == nil)
    }
}
