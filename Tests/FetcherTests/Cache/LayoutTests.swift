@testable import Fetcher
import HubCore
import Support
import Testing

/// The cache looks exactly as Python lays it out, byte for byte.
@Suite struct LayoutTests {
    /// Traps 5 and 6: relative, counted by depth, and never past the repository into the shared store.
    @Test(arguments: [
        ("config.json", "../../blobs/"), ("sub/f", "../../../blobs/"), ("sub/dir/f", "../../../../blobs/"),
        ("a/b/c/d/e.bin", "../../../../../../blobs/"),
    ])
    func aLinksTextClimbsByItsDepthAndNamesTheRepositorysOwnBlob(path: String, prefix: String) throws {
        let text = RepositoryFolder.linkText(path: path, etag: sha1("a"))
        #expect(text == prefix + sha1("a"))
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.blob(sha1("a"), in: folder)
        try cache.link(path, to: sha1("a"), at: .of("c"), in: folder)
        #expect(
            FileSystem.resolved(Path.join(folder.snapshot(.of("c")), path))
                == FileSystem.resolved(folder.blob(sha1("a"))))
    }

    @Test func linksAtTheTopHaveThePythonLength() {
        #expect(RepositoryFolder.linkText(path: "f", etag: sha1("a")).utf8.count == 52)
        #expect(RepositoryFolder.linkText(path: "f", etag: sha256("a")).utf8.count == 76)
    }

    @Test(arguments: [
        (RepositoryKind.model, "org/name", "models--org--name"), (.dataset, "org/name", "datasets--org--name"),
        (.space, "a/b", "spaces--a--b"), (.kernel, "k/x", "kernels--k--x"), (.model, "gpt2", "models--gpt2"),
        (.model, "Org/Na.me_1-x", "models--Org--Na.me_1-x"),
    ])
    func aRepositoryFolderIsNamedAfterKindAndName(kind: RepositoryKind, name: String, folder: String) throws {
        let repository = Repository(kind, try RepositoryID(name))
        #expect(CacheLayout("/c").repository(repository).name == folder)
        #expect(Repository(folderName: folder) == repository)
    }

    /// Trap 41: an ambiguous name is invalid.
    @Test(arguments: [
        "models--a--b--c", "models--", "--a--b", "models-a", "buckets--a--b", "models--a--..", "models--a----b--c",
        "tmp1234", "model--a--b", ".metadata",
    ])
    func aForeignFolderIsNoRepository(name: String) { #expect(Repository(folderName: name) == nil) }

    @Test func theNamesInARepositoryArePythons() {
        let folder = RepositoryFolder(cache: CacheLayout("/c"), name: "models--org--m")
        #expect(folder.blob("e") == "/c/models--org--m/blobs/e")
        #expect(folder.ref("refs/pr/1") == "/c/models--org--m/refs/refs/pr/1")
        #expect(folder.tree(.of("a")) == "/c/models--org--m/trees/\(Commit.of("a")).json")
        #expect(folder.snapshot(.of("a")) == "/c/models--org--m/snapshots/\(Commit.of("a"))")
        #expect(folder.lock("e") == "/c/.locks/models--org--m/e.lock")
        #expect(folder.missing == "/c/models--org--m/.no_exist")
    }

    /// Trap 27: `hf cache` counts and prunes what ends in `.incomplete`; other clients append to `<etag>.incomplete`.
    @Test func ourPartialsEndAsPartialsDoAndAreNobodyElses() {
        let folder = RepositoryFolder(cache: CacheLayout("/c"), name: "models--org--m")
        for path in [folder.partial("e"), folder.partialMap("e")] {
            #expect(path.hasSuffix(".incomplete"))
            #expect(path != folder.blob("e.incomplete"))
            #expect(RepositoryFolder.etag(ofPartial: Path.name(path)) == "e")
        }
    }

    /// Trap 31: paths that are compared have their links resolved.
    @Test func theCachesOwnLinksAreResolvedAsPythonDoes() throws {
        let folder = try TemporaryFolder()
        try FileSystem.createDirectories(folder("real/x"))
        try FileSystem.createSymlink("real", at: folder("link"))
        #expect(CacheLayout(folder("link/x")).root == folder("real/x"))
        #expect(CacheLayout(folder("link/not/yet/there")).root == folder("real/not/yet/there"))
        #expect(CacheLayout(folder("link/../link/x/.")).root == folder("real/x"))
    }

    @Test func theCacheDirectoryTagHas191BytesAndIsWrittenOnce() throws {
        let cache = try HandmadeCache()
        let tag = Path.join(cache.layout.root, "CACHEDIR.TAG")
        let text = try #require(try FileSystem.text(tag))
        #expect(text.utf8.count == 191)
        #expect(text.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
        #expect(text.contains("huggingface_hub") && text.hasSuffix("bford.info/cachedir/\n"))
        try cache.write(tag, "someone else's")
        try cache.layout.create()
        #expect(try FileSystem.text(tag) == "someone else's")
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
    }

    // MARK: Refs

    /// Traps 1 and 2: what Python reads raw, in a folder for each part of the revision.
    @Test(arguments: [("main", "main"), ("refs/pr/1", "refs/pr/1"), ("feature/x", "feature/x"), ("v1.0", "v1.0")])
    func aRefHasFortyBytesAndNoLineEnd(revision: String, file: String) throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try folder.writeRef(revision, .of("a"))
        #expect(try FileSystem.contents(Path.join(folder.refs, file)) == Array(Commit.of("a").hash.utf8))
        #expect(try folder.commit(ofRef: revision) == .of("a"))
        #expect(try FileSystem.entries(Path.parent(folder.ref(revision))) == [Path.name(file)], "nothing beside it")
        try folder.writeRef(revision, .of("b"))
        #expect(try folder.commit(ofRef: revision) == .of("b"))
    }

    @Test func aRefIsWrittenOnlyWhereItChanges() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try folder.writeRef("main", .of("a"))
        let before = try FileSystem.status(folder.ref("main"))?.inode
        try folder.writeRef("main", .of("a"))
        #expect(try FileSystem.status(folder.ref("main"))?.inode == before)
        // What is a commit already needs none; in upper case it is the name of a branch.
        try folder.writeRef(Commit.of("c").hash, .of("c"))
        #expect(try FileSystem.entries(folder.refs) == ["main"])
        try folder.writeRef(Commit.of("c").hash.uppercased(), .of("c"))
        #expect(try FileSystem.entries(folder.refs)?.count == 2)
    }

    /// Trap 1: some tool has written one; Python then loses the repository.
    @Test(arguments: ["\n", "\r\n", " \n\n"])
    func aRefWithALineEndIsReadAllTheSame(ending: String) throws {
        let cache = try HandmadeCache()
        try cache.write(cache.repository().ref("main"), Commit.of("a").hash + ending)
        #expect(try cache.repository().commit(ofRef: "main") == .of("a"))
    }

    @Test(arguments: ["", "main", "ABCDEF", "../../../../../etc/passwd"])
    func aRefThatHoldsNoCommitIsNone(content: String) throws {
        let cache = try HandmadeCache()
        try cache.write(cache.repository().ref("main"), content)
        #expect(try cache.repository().commit(ofRef: "main") == nil)
    }

    @Test(arguments: ["../../secret", "/etc/passwd", "", "a/../../b", "refs/pr"])
    func aRevisionNeverLeadsOutOfTheRefs(revision: String) throws {
        let cache = try HandmadeCache()
        try cache.write(Path.join(cache.layout.root, "secret"), Commit.of("a").hash)
        try cache.ref("refs/pr/1", .of("b"), in: cache.repository())
        #expect(try cache.repository().commit(ofRef: revision) == nil)
    }

    // MARK: Trees

    private static let files = [
        RepositoryFile(path: "a b/ç#.txt", size: 4, oid: "422c2b7ab3b3c668038da977e4e93a5fc623169c"),
        RepositoryFile(path: "Z.json", size: 22, oid: "9ad7b74e4cba7355811a595a2e179963435b6384"),
        RepositoryFile(
            path: "model.safetensors", size: 300_000, oid: sha1("1"), sha256: sha256("2"), xetHash: sha256("3")),
        RepositoryFile(path: "quote\"back.txt", size: 0, oid: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        RepositoryFile(path: "lfs-only.bin", size: 1, oid: sha1("4"), sha256: sha256("5")),
        RepositoryFile(path: "😀.txt", size: 0, oid: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
    ]

    /// What `json.dump(data, f, indent=1)` wrote for these files.
    private static let python = """
        {
         "format_version": 1,
         "files": {
          "Z.json": {
           "size": 22,
           "blob_id": "9ad7b74e4cba7355811a595a2e179963435b6384"
          },
          "a b/\\u00e7#.txt": {
           "size": 4,
           "blob_id": "422c2b7ab3b3c668038da977e4e93a5fc623169c"
          },
          "lfs-only.bin": {
           "size": 1,
           "blob_id": "4444444444444444444444444444444444444444",
           "lfs_sha256": "5555555555555555555555555555555555555555555555555555555555555555",
           "lfs_size": 1
          },
          "model.safetensors": {
           "size": 300000,
           "blob_id": "1111111111111111111111111111111111111111",
           "lfs_sha256": "2222222222222222222222222222222222222222222222222222222222222222",
           "lfs_size": 300000,
           "xet_hash": "3333333333333333333333333333333333333333333333333333333333333333"
          },
          "quote\\"back.txt": {
           "size": 0,
           "blob_id": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
          },
          "\\ud83d\\ude00.txt": {
           "size": 0,
           "blob_id": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
          }
         }
        }
        """

    /// Traps 13 and 45: `lfs_sha256` here, where the Hub says `lfs.oid`; version 1.
    @Test func aTreeIsWrittenByteForByteAsPythonWritesIt() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        let tree = RepositoryTree(commit: .of("a"), files: Self.files)
        try folder.writeTree(tree)
        #expect(try FileSystem.text(folder.tree(.of("a"))) == Self.python)
        #expect(try folder.readTree(.of("a")) == tree)
        try folder.writeTree(RepositoryTree(commit: .of("b"), files: []))
        #expect(try FileSystem.text(folder.tree(.of("b"))) == "{\n \"format_version\": 1,\n \"files\": {}\n}")
    }

    /// Trap 30: Python's own trees are 0600, so that other users of a shared cache cannot read them.
    @Test func ourTreesCanBeReadByTheGroupAndPythonsAreRead() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try folder.writeTree(RepositoryTree(commit: .of("a"), files: Self.files))
        let status = try #require(try FileSystem.status(folder.tree(.of("a"))))
        #expect(status.mode & 0o400 != 0 && status.mode & 0o111 == 0)
        let ordinary = try #require(try FileSystem.status(cache.write(folder.blob("x"))))
        #expect(status.mode == ordinary.mode, "0666 less the umask")
        try cache.write(folder.tree(.of("b")), Self.python)
        try FileDescriptor(folder.tree(.of("b")), [.write]).setMode(0o600)
        #expect(try folder.readTree(.of("b"))?.files.count == 6)
    }

    @Test func aTreeIsWrittenOnlyWhereItChanges() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.write(folder.tree(.of("a")), Self.python)
        let before = try FileSystem.status(folder.tree(.of("a")))?.inode
        try folder.writeTree(RepositoryTree(commit: .of("a"), files: Self.files))
        #expect(try FileSystem.status(folder.tree(.of("a")))?.inode == before)
        try folder.writeTree(RepositoryTree(commit: .of("a"), files: Array(Self.files.dropLast())))
        #expect(try folder.readTree(.of("a"))?.files.count == 5)
        #expect(try FileSystem.entries(folder.trees)?.count == 1)
    }

    private static func tree(_ entry: String, version: String = "1") -> String {
        #"{"format_version":\#(version),"files":{\#(entry)}}"#
    }
    private static let good = #"{"size":1,"blob_id":"\#(sha1("a"))"}"#
    private static let unsound: [(String, String)] = [
        ("another version", tree(#""a":\#(good)"#, version: "2")),
        ("a version that is text", tree(#""a":\#(good)"#, version: "\"1\"")),
        ("no version", #"{"files":{"a":\#(good)}}"#), ("no files", #"{"format_version":1}"#),
        ("not JSON", "{"), ("empty", ""), ("a list", "[]"), ("a path that climbs", tree(#""../x":\#(good)"#)),
        ("an absolute path", tree(#""/etc/passwd":\#(good)"#)), ("an empty path", tree(#""":\#(good)"#)),
        ("no size", tree(#""a":{"blob_id":"\#(sha1("a"))"}"#)),
        ("a negative size", tree(#""a":{"size":-1,"blob_id":"\#(sha1("a"))"}"#)),
        (
            "a size beyond measure",
            tree(
                #""a":{"size":9223372036854775807,"blob_id":"\#(sha1("a"))"},"b":{"size":9223372036854775807,"blob_id":"\#(sha1("a"))"}"#
            )
        ),
        ("no blob", tree(#""a":{"size":1}"#)), ("a blob that climbs", tree(#""a":{"size":1,"blob_id":"../../x"}"#)),
        ("a sha256 as git's digest", tree(#""a":{"size":1,"blob_id":"\#(sha256("a"))"}"#)),
        (
            "git's digest as sha256",
            tree(#""a":{"size":1,"blob_id":"\#(sha1("a"))","lfs_sha256":"\#(sha1("b"))","lfs_size":1}"#)
        ),
        ("an entry that is no object", tree(#""a":1"#)),
    ]

    @Test(arguments: unsound)
    func aTreeThatIsNotSoundIsNotThere(what: String, text: String) throws {
        let cache = try HandmadeCache()
        try cache.write(cache.repository().tree(.of("a")), text)
        #expect(try cache.repository().readTree(.of("a")) == nil)
    }

    @Test func aTreeOfManyFilesIsReadThough64MebibytesAreNotEnough() throws {
        let cache = try HandmadeCache()
        let padding = [UInt8](repeating: UInt8(ascii: " "), count: 65 << 20)
        try cache.write(cache.repository().tree(.of("a")), Array(Self.tree(#""a":\#(Self.good)"#).utf8) + padding)
        #expect(try cache.repository().readTree(.of("a"))?.files.map(\.path) == ["a"])
    }

    /// Trap 25: Python gives lock files this mode whatever the umask: the group of a shared cache takes them too.
    @Test func aLockFileIsOpenToTheGroup() throws {
        let box = try TemporaryFolder("locks")
        let path = box("models--org--m/e.lock")
        let attempt = try FileLock.attempt(path)
        let isTaken = if case .taken = attempt { true } else { false }
        #expect(isTaken)
        #expect(try FileSystem.status(path)?.mode == 0o664)
    }

    // MARK: Refs that stand in each other's way

    /// git has a branch `foo` or branches `foo/…`, never both; what stands in the way is of a branch that is gone.
    @Test func aBranchThatBecameAFolderOfBranchesAndBack() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try folder.writeRef("foo", .of("a"))
        try folder.writeRef("foo/bar/baz", .of("b"))
        #expect(try folder.commit(ofRef: "foo/bar/baz") == .of("b"))
        #expect(try folder.commit(ofRef: "foo") == nil)
        try folder.writeRef("foo/bar", .of("c"))
        #expect(try folder.commit(ofRef: "foo/bar") == .of("c"))
        try folder.writeRef("foo", .of("d"))
        #expect(try folder.commit(ofRef: "foo") == .of("d"))
        #expect(try FileSystem.entries(folder.refs) == ["foo"] && FileSystem.entries(folder.blobs) == [])
    }

    /// A pull request is not a branch: `refs` and `refs/pr/1` may both exist, but only one can be stored.
    @Test func aBranchOfTheNameOfAllPullRequestsDoesNotTakeTheirPlace() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try folder.writeRef("refs/pr/1", .of("a"))
        for name in ["refs", "refs/pr"] { try folder.writeRef(name, .of("b")) }
        #expect(try folder.commit(ofRef: "refs/pr/1") == .of("a"))
    }
}
