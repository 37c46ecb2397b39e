import HubCore
import Testing

@Suite struct PathTests {
    @Test(
        arguments: [
            ("a", "b", "a/b"), ("a/", "b", "a/b"), ("a", "/b", "/b"), ("", "b", "b"), ("/", "b", "/b"),
            ("a", "\u{301}b", "a/\u{301}b"),
        ] as [(String, String, String)])
    func joins(_ base: String, _ name: String, _ path: String) {
        #expect(Array(Path.join(base, name).utf8) == Array(path.utf8))
    }

    @Test(
        arguments: [
            ("a/b", "a"), ("a/b/c", "a/b"), ("a", "."), ("/a", "/"), ("/", "/"), ("a/b/", "a"), ("", "."),
            (".", "."),
            ("/a/b", "/a"), ("a/\u{301}b", "a"), ("é/x", "é"),
        ] as [(String, String)])
    func theParentIsWhatStandsBeforeTheLastSlash(_ path: String, _ parent: String) {
        #expect(Path.parent(path) == parent)
    }

    @Test(arguments: [("a/b", "b"), ("a", "a"), ("/a", "a"), ("a/b.c", "b.c"), ("a/\u{301}b", "\u{301}b")])
    func theNameIsWhatFollowsTheLastSlash(_ path: String, _ name: String) { #expect(Path.name(path) == name) }

    @Test(
        arguments: [
            ("a/./b", "a/b"), ("a//b/", "a/b"), ("a/../b", "b"), ("../a", "../a"), ("/../a", "/a"), ("/a/..", "/"),
            ("a/..", "."), (".", "."), ("", "."), ("/", "/"), ("../../a/..", "../.."), ("/a/b/../../c", "/c"),
            ("a/../\u{301}b", "\u{301}b"),
        ] as [(String, String)])
    func dotsAreTakenOutByTextAlone(_ path: String, _ normalized: String) {
        #expect(Array(Path.normalized(path).utf8) == Array(normalized.utf8))
    }
}
