import Support
import Testing

@testable import HubCore

/// The file that Python's client keeps; `Tests/Peers/test_auth.py` has that client read and write the same.
@Suite struct StoredTokensTests {
    private let folder: TemporaryFolder
    private var path: String { folder("hf/stored_tokens") }

    init() throws { folder = try TemporaryFolder() }

    private func token(_ text: String) throws -> AccessToken { try #require(AccessToken(text)) }

    @Test func theFormIsPythons() throws {
        var tokens = try StoredTokens(reading: path)
        #expect(tokens.entries.isEmpty)
        try tokens.set("zoë % [x]", token("hf_%(home)s%%"), expiresAt: nil)
        try tokens.set("oauth-ada", token("hf_oauth_1"), expiresAt: 1_790_000_000.7)
        try tokens.set("Laptop", token("hf_a"), expiresAt: nil)
        try tokens.write(to: path)
        #expect(
            try FileSystem.text(path) == """
                [Laptop]
                hf_token = hf_a

                [oauth-ada]
                hf_token = hf_oauth_1
                expires_at = 1790000000

                [zoë % [x]]
                hf_token = hf_%(home)s%%


                """)
        #expect(try FileSystem.status(path)?.mode == 0o600 && FileSystem.status(folder("hf"))?.mode == 0o700)
        let again = try StoredTokens(reading: path)
        #expect(again.entries.map(\.name) == ["Laptop", "oauth-ada", "zoë % [x]"])
        #expect(again.entry(named: "zoë % [x]")?.token?.secret == "hf_%(home)s%%")
        #expect(again.entry(named: "zoe\u{308} % [x]") == nil, "names are bytes")
        #expect(again.entry(named: "oauth-ada")?.expiresAt == 1_790_000_000)
    }

    @Test func whatPythonKeepsStays() throws {
        try folder.write(
            "hf/stored_tokens",
            "# by hand\n[DEFAULT]\nnote: all\n[work]\nHF_TOKEN : hf_w\r\nrefresh_token = r=1%\n\texpires\n; no\nexpires_at = 5\n"
        )
        var tokens = try StoredTokens(reading: path)
        #expect(tokens.entry(named: "work")?.token?.secret == "hf_w" && tokens.entry(named: "work")?.expiresAt == 5)
        try tokens.set("new", token("hf_n"), expiresAt: nil)
        try tokens.write(to: path)
        #expect(
            try FileSystem.text(path) == """
                [DEFAULT]
                note = all

                [new]
                hf_token = hf_n

                [work]
                hf_token = hf_w
                refresh_token = r=1%
                \texpires
                expires_at = 5


                """)
        // What was known of another token under the same name is not true of this one.
        try tokens.set("work", token("hf_2"), expiresAt: nil)
        #expect(tokens.entry(named: "work") == .init(name: "work", token: try token("hf_2"), expiresAt: nil))
    }

    @Test(arguments: [
        ("hf_token = x\n", "line 1 is text before the first section"),
        ("[a]\nhf_token = x\n\n[a]\n", "line 4 is a section that is there twice"),
        ("[a]\nhf_token = x\nHF_Token = y\n", "line 3 is an option that is there twice"),
        ("[a]\nwhatever\n", "line 2 is neither a section nor an option"),
        ("[a]\n= x\n", "line 2 is neither a section nor an option"),
        ("[a\n", "line 1 is text before the first section"),
    ])
    func damageIsSaidAndLeft(text: String, reason: String) throws {
        try folder.write("hf/stored_tokens", text)
        let error = #expect(throws: AIError.self) { try StoredTokens(reading: path) }
        #expect(
            error?.message == "the stored tokens in \(path) cannot be read: \(reason)" && error?.exitStatus == 6)
        #expect(try FileSystem.text(path) == text)
    }

    @Test func bytesThatAreNoTextAreDamage() throws {
        try folder.write("hf/stored_tokens", [0x5B, 0xFF, 0x5D, 10])
        let error = #expect(throws: AIError.self) { try StoredTokens(reading: path) }
        #expect(error?.message.hasSuffix("it is not UTF-8") == true)
    }

    @Test(arguments: [
        ("a\nb", "a b"), ("a\r\nb", "a b"), ("DEFAULT", "DEFAULT-token"), ("", "-token"), ("]", "]"), ("#x", "#x"),
        ("a\u{2028}b", "a\u{2028}b"), (" a ", " a "), ("a]b[", "a]b["),
    ])
    func everyNameCanBeReadAgain(text: String, name: String) throws {
        #expect(StoredTokens.name(for: text) == name)
        var tokens = StoredTokens()
        try tokens.set(name, token("hf_a"), expiresAt: nil)
        try tokens.write(to: path)
        #expect(try StoredTokens(reading: path) == tokens)
    }

    @Test func aTokenIsReplacedWhereverItIs() throws {
        var tokens = StoredTokens()
        try tokens.set("a", token("hf_old"), expiresAt: 1)
        try tokens.set("b", token("hf_other"), expiresAt: 1)
        try tokens.set("c", token("hf_old"), expiresAt: nil)
        try tokens.replace(token("hf_old"), by: token("hf_new"), expiresAt: 9)
        #expect(tokens.entries.map(\.token?.secret) == ["hf_new", "hf_other", "hf_new"])
        #expect(tokens.entries.map(\.expiresAt) == [9, 1, 9])
        for name in ["a", "b", "c", "a"] {
            let isThere = tokens.entry(named: name) != nil
            let isRemoved = tokens.remove(name)
            #expect(isRemoved == isThere && tokens.entry(named: name) == nil)
        }
        try folder.write("hf/stored_tokens", "[x]\n")
        try tokens.write(to: path)
        #expect(!FileSystem.exists(path), "without tokens there is no file")
    }

    @Test func aLinkIsFollowedAndAFolderIsRefused() throws {
        try folder.write("vault", "[a]\nhf_token = hf_a\n")
        try FileSystem.createDirectories(folder("hf"))
        try FileSystem.createSymlink("../vault", at: path)
        var tokens = try StoredTokens(reading: path)
        try tokens.set("b", token("hf_b"), expiresAt: nil)
        try tokens.write(to: path)
        #expect(FileSystem.linkText(path) == "../vault")
        #expect(try StoredTokens(reading: folder("vault")).entries.count == 2)
        try FileSystem.createDirectories(folder("other/stored_tokens"))
        #expect(throws: AIError.self) { try StoredTokens(reading: folder("other/stored_tokens")) }
    }
}
