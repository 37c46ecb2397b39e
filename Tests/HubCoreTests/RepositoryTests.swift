import HubCore
import Testing

@Suite struct RepositoryIDTests {
    /// The golden vectors are those of huggingface_hub 2.4.0.
    @Test(arguments: [
        "a", "a/b", "A/B", "_a/b", "a_/b", "a.b/c_d", "gpt2", "0/1", String(repeating: "x", count: 96),
        "org/" + String(repeating: "x", count: 96),
    ])
    func accepts(_ name: String) throws {
        let id = try RepositoryID(name)
        #expect(id.name == name && id.description == name)
    }

    @Test(arguments: [
        "-a/b", "a-/b", "a/b-", "a/b.git", "a--b/c", "a..b", "a/b/c", "café/x", " a",
        String(repeating: "x", count: 97),
        "", "/", "a/", "/b", ".a/b", "a./b", "a/.b", "a b", "a\n", "a/b\r\n", "a\u{0}", "a\u{301}/b", "a/\u{301}b",
        "..",
        ".", "../..", "a.git", "a\\b", "a@b", "a:b", "٣/a", "ａ/b", "a/b?", "%2e",
    ])
    func rejectsAndSaysWhy(_ name: String) {
        let error = #expect(throws: AIError.self) { try RepositoryID(name) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("is not a repository name: ") == true)
        #expect(error?.message.unicodeScalars.contains { $0.value < 0x20 } == false)
    }

    /// Trap 32: to the Hub they are, whatever a disk makes of their folders.
    @Test func namesThatDifferByCaseAreTwoNames() throws {
        #expect(try RepositoryID("A/b") != RepositoryID("a/b"))
    }

    @Test func theOwnerIsThePartBeforeTheSlash() throws {
        #expect(try RepositoryID("org/name").owner == "org")
        #expect(try RepositoryID("gpt2").owner == nil)
    }
}

@Suite struct RepositoryFolderTests {
    @Test(
        arguments: [
            (.model, "org/name", "models--org--name"), (.model, "gpt2", "models--gpt2"),
            (.dataset, "org/d", "datasets--org--d"), (.space, "a.b/c_d", "spaces--a.b--c_d"),
            (.kernel, "K/k", "kernels--K--k"), (.model, "a-b/c-d", "models--a-b--c-d"),
        ] as [(RepositoryKind, String, String)])
    func aFolderNamesItsRepositoryAndBack(_ kind: RepositoryKind, _ id: String, _ folder: String) throws {
        let repository = Repository(kind, try RepositoryID(id))
        #expect(repository.folderName == folder)
        #expect(Repository(folderName: folder) == repository)
    }

    /// Trap 41: a name with `--` in it cannot be read back.
    @Test(arguments: [
        "", "models", "models--", "models-org--name", "model--org--name", "buckets--a--b", "models--a--b--c",
        "Models--a",
        "models----a", "models--a----b", "models--a--", "--a--b", ".locks", "blobs", "models--a b",
        "models--a--b.git",
        "models--a---b", "tmpabcd",
    ])
    func aForeignFolderIsNoRepository(_ folder: String) { #expect(Repository(folderName: folder) == nil) }

    @Test func aReferenceNamesTheKindOfWhatIsNoModel() throws {
        let id = try RepositoryID("org/name")
        #expect(
            RepositoryKind.allCases.map { Repository($0, id).description } == [
                "org/name", "datasets/org/name", "spaces/org/name", "kernels/org/name",
            ])
    }
}

@Suite struct RepositoryPathTests {
    @Test(arguments: [
        "a", "config.json", "sub/dir/vocab.txt", "..a", "a..b", "a...", ".gitattributes", "a b/ç#.txt", "日本/é",
        "e\u{301}",
        "x[1].txt", "ab:c", "-rf", "😀", String(repeating: "a", count: 255),
    ])
    func acceptsWhatCanLieInARepository(_ path: String) { #expect(RepositoryPath.fault(path) == nil) }

    /// Trap 50. Python accepts `a/./b`, `./a`, `a//b` and the empty name too; on disk they would be other names of one
    /// file.
    @Test(arguments: [
        "../a", "a/../b", "/a", "C:a", "c:\\a", "a\\..\\b", "\\\\h\\s", "a/./b", "./a", "a//b", "", "a/", "..", ".",
        "a/..",
        "a/.", "/", "//a", "a\u{0}b", "a\nb", "a\r\nb", "\u{1B}[31m", "a\u{7F}", String(repeating: "a", count: 256),
        String(repeating: "a/", count: 512) + "b",
    ])
    func refusesWhatIsNoFileOfARepository(_ path: String) { #expect(RepositoryPath.fault(path) != nil) }

    @Test func aNameFromWindowsIsLeftOutAndNothingWorseIs() {
        for path in ["a\\b.txt", "a\\b\\c", "a/b\\c.bin"] {
            #expect(RepositoryPath.hasOnlyBackslashes(path), "\(path)")
        }
        for path in ["a/b", "..\\a", "a\\..\\b", "\\a", "c:\\a", "a\\\\b", "a\\\u{301}b", "a\\b\n", "a\\"] {
            #expect(!RepositoryPath.hasOnlyBackslashes(path), "\(path)")
        }
    }

    /// Swift sees a slash and a following mark as one character, which is no "/"; the system sees the slash.
    @Test(arguments: [
        "/\u{301}etc", "../\u{301}x", "a/../\u{FE0F}x", "a/\u{200D}/b", "a\u{600}/../\u{301}b", "\\\u{301}x",
        "./\u{301}",
        "a/\u{301}b", "a\u{600}/b",
    ])
    func aSlashHiddenInsideACharacterIsRefused(_ path: String) { #expect(RepositoryPath.fault(path) != nil) }

    @Test func theErrorNamesTheRepositoryAndShowsNoControls() {
        let error = #expect(throws: AIError.self) {
            try RepositoryPath.check("../\u{1B}[2Jx", repository: "org/name")
        }
        #expect(error?.code == .protocolViolation)
        #expect(error?.context.repository == "org/name")
        #expect(error?.message.contains("../\\u{1B}[2Jx") == true)
        #expect(throws: Never.self) { try RepositoryPath.check("a/b", repository: "org/name") }
    }

    @Test(arguments: ["main", "v1.0", "refs/pr/1", "feature/x", "0123456789abcdef0123456789abcdef01234567"])
    func aRevisionMayHaveParts(_ revision: String) {
        #expect(throws: Never.self) { try RepositoryPath.checkRevision(revision) }
    }

    @Test(arguments: ["", "../main", "/main", "a//b", "refs/../../x", "a\nb"])
    func aRevisionThatIsNoFileNameIsTheCallersMistake(_ revision: String) {
        #expect(throws: AIError.self) { try RepositoryPath.checkRevision(revision) }
        do { try RepositoryPath.checkRevision(revision) } catch { #expect(error.code == .invalidInput) }
    }
}

@Suite struct CommitTests {
    private static let hash = "0123456789abcdef0123456789abcdef01234567"

    @Test func fortyLowerCaseDigitsAreACommit() throws {
        let commit = try #require(Commit(Self.hash))
        #expect(commit.hash == Self.hash && commit.description == Self.hash && commit.short == "01234567")
    }

    @Test(arguments: [
        "", "main", hash.uppercased(), String(hash.dropLast()), hash + "0", hash.dropLast() + "g", hash + "\n",
        String(hash.dropLast()) + "٣",
    ])
    func anythingElseIsTheNameOfABranch(_ text: String) { #expect(Commit(text) == nil) }
}

@Suite struct RepositoryTreeTests {
    private let commit = Commit("0123456789abcdef0123456789abcdef01234567")!
    private let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

    @Test func filesAreSortedByTheBytesOfTheirPaths() {
        let paths = ["b", "a/b", "a.b", "Z", "\u{E9}", "e\u{301}", "😀", "\u{FF21}"]
        let tree = RepositoryTree(
            commit: commit, files: paths.map { RepositoryFile(path: $0, size: 1, oid: empty) })
        let expected = ["Z", "a.b", "a/b", "b", "e\u{301}", "\u{E9}", "\u{FF21}", "😀"]
        #expect(tree.files.map { Array($0.path.utf8) } == expected.map { Array($0.utf8) })
        #expect(tree.totalSize == 8)
    }

    /// Trap 33: names are bytes, used as they came.
    @Test func filesWhoseNamesDifferOnlyByNormalisationAreTwoFiles() {
        let (composed, decomposed) = (
            RepositoryFile(path: "\u{E9}", size: 0, oid: empty),
            RepositoryFile(path: "e\u{301}", size: 0, oid: empty)
        )
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(
            RepositoryTree(commit: commit, files: [composed]) != RepositoryTree(commit: commit, files: [decomposed])
        )
    }

    @Test func sizesThatAServerMadeUpDoNotOverflow() {
        let files = ["a", "b"].map { RepositoryFile(path: $0, size: .max, oid: empty) }
        #expect(RepositoryTree(commit: commit, files: files).totalSize == .max)
    }

    @Test func theDigestOfAnLFSFileIsItsContentsAndNotItsPointers() {
        let sha256 = String(repeating: "a", count: 64)
        let large = RepositoryFile(path: "a", size: 1, oid: empty, sha256: sha256)
        #expect(large.oid == empty && large.sha256 == sha256 && large.xetHash == nil && large.isLFS)
        for odd in ["", "x", "ABCDEF", "abc", "é", String(repeating: "0f", count: 300)] {
            var file = RepositoryFile(
                path: "a", size: 1, oid: odd, sha256: sha256, xetHash: odd.isEmpty ? nil : odd)
            #expect(file.oid == odd && file.sha256 == sha256 && file.xetHash == (odd.isEmpty ? nil : odd))
            #expect(file != large && file.content == large.content)
            file.sha256 = nil
            file.oid = empty
            #expect(file.oid == empty && !file.isLFS && file.content != large.content)
        }
        #expect(large.digest == .sha256(sha256) && large.isLFS)
        let regular = RepositoryFile(path: "a", size: 0, oid: empty)
        #expect(regular.digest == .gitSHA1(empty) && !regular.isLFS)
    }
}

@Suite struct PrintableTextTests {
    @Test(
        arguments: [
            ("plain é 日本 😀", "plain é 日本 😀"), ("\u{1B}[31m", "\\u{1B}[31m"), ("a\nb\tc", "a\\u{A}b\\u{9}c"),
            ("\r\n", "\\u{D}\\u{A}"), ("\u{7F}\u{9B}", "\\u{7F}\\u{9B}"),
            ("a\u{202E}b\u{2066}", "a\\u{202E}b\\u{2066}"),
            ("", ""),
        ] as [(String, String)])
    func controlsAreShownAndNotObeyed(_ text: String, _ shown: String) { #expect(text.printable == shown) }
}
