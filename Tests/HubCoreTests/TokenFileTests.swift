import HubCore
import Libc
import Support
import Testing

/// The file that holds a credential: for its owner alone, whole or not at all, and nothing else touched.
@Suite struct TokenFileTests {
    private let folder: TemporaryFolder
    private let token = AccessToken("hf_new")!

    init() throws { folder = try TemporaryFolder() }

    private func mode(_ name: String) throws -> UInt32? { try FileSystem.status(folder(name))?.mode }

    @Test func foldersThatAreMadeAndTheFileAreForTheOwnerAlone() throws {
        try TokenFile(folder("a/b/token")).save(token)
        #expect(try FileSystem.text(folder("a/b/token")) == "hf_new")
        #expect(try mode("a/b/token") == 0o600)
        #expect(try mode("a") == 0o700)
        #expect(try mode("a/b") == 0o700)
        #expect(try FileSystem.entries(folder("a/b")) == ["token"], "nothing is left beside it")
    }

    /// It may contain the cache, shared with a group on purpose.
    @Test func aFolderThatWasThereKeepsItsMode() throws {
        try FileSystem.createDirectories(folder("shared"))
        try FileSystem.setMode(folder("shared"), 0o775)
        try TokenFile(folder("shared/token")).save(token)
        #expect(try mode("shared") == 0o775)
        #expect(try mode("shared/token") == 0o600)
    }

    /// Writing into the old file would show the new token to readers that have it open, and keep its mode.
    @Test func anOpenFileOfBeforeIsReplacedNotWrittenInto() throws {
        let path = try folder.write("token", "hf_old")
        try FileSystem.setMode(path, 0o644)
        let old = try MappedFile(path)
        try TokenFile(path).save(token)
        #expect(Array(old.bytes) == Array("hf_old".utf8))
        #expect(try FileSystem.text(path) == "hf_new")
        #expect(try mode("token") == 0o600)
    }

    @Test func theBytesGoWhereALinkLeads() throws {
        try folder.write("vault/secret", "hf_old")
        try FileSystem.createSymlink("vault/secret", at: folder("token"))
        try TokenFile(folder("token")).save(token)
        #expect(FileSystem.linkText(folder("token")) == "vault/secret")
        #expect(try FileSystem.text(folder("vault/secret")) == "hf_new")
        #expect(try mode("vault/secret") == 0o600)
        #expect(try TokenFile(folder("token")).remove() == .link(to: folder("vault/secret")))
        #expect(try FileSystem.linkStatus(folder("token")) == nil)
        #expect(try FileSystem.text(folder("vault/secret")) == "hf_new")
    }

    @Test func aLinkThatLeadsNowhereIsNotReplaced() throws {
        try FileSystem.createSymlink("not/mounted", at: folder("token"))
        let error = #expect(throws: AIError.self) { try TokenFile(folder("token")).save(token) }
        #expect(error?.code == .ioError && error?.message.contains("is a broken link") == true)
        #expect(FileSystem.linkText(folder("token")) == "not/mounted")
        #expect(try TokenFile(folder("token")).remove() == .file)
    }

    /// `HF_TOKEN_PATH=/dev/null` is how some people say that they have none, and root could replace it.
    @Test func whatIsNoFileIsNeitherReplacedNorRemoved() throws {
        try #require(mkfifo(folder("pipe"), 0o600) == 0)
        try FileSystem.createDirectories(folder("folder"))
        try FileSystem.createSymlink("pipe", at: folder("link"))
        for name in ["pipe", "folder", "link"] {
            let file = TokenFile(folder(name))
            let error = #expect(throws: AIError.self) { try file.save(token) }
            #expect(error?.code == .ioError && error?.message == "the token file \(folder(name)) is not a file")
            #expect(error?.recoverySuggestion == "HF_TOKEN_PATH chooses another file for the token")
            if name != "link" { #expect(throws: AIError.self) { try file.remove() } }
            #expect(try file.exposure() == nil)
        }
        #expect(try FileSystem.entries(folder.path) == ["folder", "link", "pipe"])
        #expect(try FileSystem.status(folder("pipe"))?.kind == .other)
    }

    @Test func aFailureLeavesTheTokenOfBefore() throws {
        try folder.write("file", "x")
        let error = #expect(throws: AIError.self) { try TokenFile(folder("file/token")).save(token) }
        #expect(error?.exitStatus == 6)
        #expect(try FileSystem.text(folder("file")) == "x")
        #expect(try FileSystem.entries(folder.path) == ["file"])
    }

    @Test func removingLeavesTheRest() throws {
        try folder.write("token", "hf_old")
        try folder.write("stored_tokens", "[laptop]\nhf_token = hf_old\n\n")
        let file = TokenFile(folder("token"))
        #expect(try file.remove() == .file)
        #expect(try file.remove() == .nothing)
        #expect(file.collection == folder("stored_tokens"))
        #expect(try FileSystem.text(file.collection) == "[laptop]\nhf_token = hf_old\n\n")
    }

    @Test(arguments: [0o600, 0o400, 0o700, 0o000] as [UInt32]) func aFileForItsOwnerIsAllRight(mode: UInt32) throws
    {
        try FileSystem.setMode(try folder.write("token", "hf_x"), mode)
        #expect(try TokenFile(folder("token")).exposure() == nil)
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o620, 0o602, 0o610, 0o666] as [UInt32])
    func aFileThatIsOpenToOthersIsSaid(mode: UInt32) throws {
        try FileSystem.setMode(try folder.write("to'ken", "hf_x"), mode)
        let text = try TokenFile(folder("to'ken")).exposure()
        #expect(
            text
                == "the token file is open to others (mode \(String(mode, radix: 8))): chmod 600 '\(folder("to'\\''ken"))'"
        )
        // A link to it is no better; a link's own mode is ignored.
        try FileSystem.createSymlink("to'ken", at: folder("link"))
        #expect(try TokenFile(folder("link")).exposure()?.contains("mode \(String(mode, radix: 8))") == true)
        #expect(try TokenFile(folder("absent")).exposure() == nil)
    }
}
