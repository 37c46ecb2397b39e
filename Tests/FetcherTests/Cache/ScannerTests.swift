@testable import Fetcher
import HubCore
import Support
import Testing

/// A scan understands all that Python, other clients and people leave; nothing broken hides what is whole.
@Suite struct ScannerTests {
    private func only(_ cache: HandmadeCache) throws -> (repository: CachedRepository, state: CacheState) {
        let state = try cache.scan()
        return (try #require(state.repositories.first), state)
    }

    @Test func anAbsentCacheIsAnEmptyOne() throws {
        let state = try CacheScanner(CacheLayout("/nowhere/at/all"), catalog: nil).scan()
        #expect(state.repositories.isEmpty && state.totalSize == 0)
    }

    @Test func aRepositoryIsReadWithItsRefsFilesAndSizes() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.blob(sha1("1"), size: 7, in: folder)
        try cache.blob(sha256("2"), size: 500, in: folder)
        for path in ["config.json", "copy.json"] { try cache.link(path, to: sha1("1"), at: .of("a"), in: folder) }
        try cache.link("sub/dir/w.bin", to: sha256("2"), at: .of("a"), in: folder)
        try cache.link("config.json", to: sha1("1"), at: .of("b"), in: folder)
        for name in ["main", "v1"] { try cache.ref(name, .of("a"), in: folder) }
        try cache.ref("refs/pr/1", .of("b"), in: folder)
        let (repository, state) = try only(cache)
        #expect(repository.repository == .model("org/m"))
        #expect(repository.revisions.map(\.commit) == [.of("a"), .of("b")])
        #expect(repository.revisions.map(\.refs) == [["main", "v1"], ["refs/pr/1"]])
        #expect(repository.revisions[0].files.map(\.path) == ["config.json", "copy.json", "sub/dir/w.bin"])
        #expect(repository.revisions[0].files.map(\.blob) == [sha1("1"), sha1("1"), sha256("2")])
        #expect(repository.revisions[0].files.allSatisfy { !$0.isBroken })
        #expect(repository.size == 507, "each physical file once")
        #expect(state.totalSize == 507 && state.partialSize == 0 && state.otherSize == 0)
        #expect(state.remarks.isEmpty)
        #expect(try PythonScan(cache.layout.root).sizes == ["models--org--m": 507])
    }

    /// Trap 43: a pinned commit has no ref.
    @Test func detachedIsNotGarbage() throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository())
        let (repository, state) = try only(cache)
        #expect(repository.revisions.map(\.refs) == [[]])
        #expect(repository.orphans.isEmpty && state.remarks.isEmpty)
    }

    @Test func aDanglingRefHidesNothing() throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha1("1"), 3)], refs: ["main"], in: cache.repository())
        try cache.ref("refs/pr/9", .of("f"), in: cache.repository())
        let (repository, _) = try only(cache)
        #expect(repository.danglingRefs == ["refs/pr/9"])
        #expect(repository.revisions.map(\.refs) == [["main"]])
        #expect(try PythonScan(cache.layout.root).revisions.isEmpty, "while Python shows nothing of it")
    }

    @Test func aRefWithALineEndCountsAndIsRemarkedOn() throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository())
        try cache.write(cache.repository().ref("main"), Commit.of("a").hash + "\n")
        let (repository, state) = try only(cache)
        #expect(repository.revisions.map(\.refs) == [["main"]])
        #expect(repository.danglingRefs.isEmpty)
        #expect(state.remarks.count == 1 && state.remarks[0].contains("refs/main"))
    }

    @Test func aBrokenLinkIsNotedAndTheRestIsThere() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 3)], refs: ["main"], in: folder)
        try cache.link("gone.bin", to: sha1("2"), at: .of("a"), in: folder)
        let (repository, state) = try only(cache)
        #expect(repository.revisions[0].files.map(\.isBroken) == [false, true])
        #expect(repository.revisions[0].isComplete == false)
        #expect(repository.size == 3)
        #expect(state.remarks.contains { $0.contains("gone.bin is a broken link") })
    }

    /// Trap 47: a snapshot may hold the files themselves.
    @Test func plainFilesInASnapshotAreFilesOfTheirOwn() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        for (commit, size) in [(Commit.of("a"), 5), (.of("b"), 6)] {
            try cache.write(Path.join(folder.snapshot(commit), "sub/w.bin"), [UInt8](repeating: 1, count: size))
            try cache.write(Path.join(folder.snapshot(commit), "notes.tmp"), "12")
        }
        try FileSystem.createDirectories(folder.blobs)
        let (repository, state) = try only(cache)
        #expect(repository.revisions[0].files.map(\.path) == ["notes.tmp", "sub/w.bin"])
        #expect(repository.revisions[0].files.allSatisfy { $0.blob == nil && $0.file != nil })
        #expect(state.totalSize == 15)
        #expect(try PythonScan(cache.layout.root).sizes == ["models--org--m": 15])
    }

    @Test func aLinkOutOfTheCacheIsShownAndCountsNothing() throws {
        let cache = try HandmadeCache()
        let outside = try cache.folder.write("precious.bin", "precious")
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository())
        try FileSystem.createSymlink(outside, at: Path.join(cache.repository().snapshot(.of("a")), "link.bin"))
        try FileSystem.createSymlink(
            cache.folder.path, at: Path.join(cache.repository().snapshot(.of("a")), "folder"))
        let (repository, state) = try only(cache)
        #expect(repository.revisions[0].files.filter { $0.blob == nil }.map(\.path) == ["folder", "link.bin"])
        #expect(repository.revisions[0].files.allSatisfy { !$0.isBroken })
        #expect(state.totalSize == 3)
    }

    @Test(arguments: [
        "\(sha1("1")).hub.incomplete", "\(sha1("1")).hub.map.incomplete", "\(sha1("1")).incomplete",
        "\(sha1("1")).0a1b2c3d.incomplete", "\(sha256("1")).0a1b2c3d.incomplete",
    ])
    func aPartialOfAnyClientIsAPartialAndNoBlob(name: String) throws {
        let cache = try HandmadeCache()
        try cache.write(cache.repository().blob(name), "12345")
        let (repository, state) = try only(cache)
        #expect(repository.partials.map(\.name) == [name])
        #expect(repository.blobs.isEmpty && repository.orphans.isEmpty)
        #expect(state.partialSize == 5 && state.totalSize == 0 && state.otherSize == 0)
    }

    /// They have no `.incomplete` in their names, so Python never finds them; here they are seen and can go.
    @Test(arguments: ["\(sha1("1")).0a1b2c3d.tmp", "tmp_0123", ".\(sha1("1")).0a1b2c3d.new"])
    func aLeftoverOfACopyCountsAsAPartial(name: String) throws {
        let cache = try HandmadeCache()
        try cache.write(cache.repository().blob(name), "12345")
        let (repository, state) = try only(cache)
        #expect(repository.blobs.isEmpty)
        #expect(repository.partials.map(\.name) == [name] && state.partialSize == 5)
    }

    @Test func aLinkInTheMakingIsNoBlob() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.blob(sha1("1"), in: folder)
        try FileSystem.createSymlink("../../blobs/aa/x", at: folder.blob(".\(sha1("2")).0a1b2c3d.shared"))
        try cache.write(folder.ref("main.0a1b2c3d.tmp"), Commit.of("a").hash)
        let (repository, state) = try only(cache)
        #expect(repository.blobs.keys.sorted() == [sha1("1")])
        #expect(repository.partials.isEmpty && repository.danglingRefs.isEmpty && state.remarks.isEmpty)
    }

    @Test func orphanBlobsAreOtherBytes() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: folder)
        try cache.blob(sha1("2"), size: 40, in: folder)
        // A second name of a needed file adds no bytes.
        try FileSystem.createHardLink(folder.blob(sha1("1")), at: folder.blob(sha1("3")))
        let (repository, state) = try only(cache)
        #expect(repository.orphans.map(\.name) == [sha1("2"), sha1("3")])
        #expect(state.totalSize == 3 && state.otherSize == 40)
    }

    @Test func aHardLinkBetweenRepositoriesIsOneFile() throws {
        let cache = try HandmadeCache()
        let (one, two) = (cache.repository(), cache.repository("datasets--org--d"))
        try cache.revision(.of("a"), [(sha256("1"), 100)], in: one)
        try FileSystem.createDirectories(two.blobs)
        try FileSystem.createHardLink(one.blob(sha256("1")), at: two.blob(sha256("1")))
        try cache.link("w.bin", to: sha256("1"), at: .of("a"), in: two)
        let state = try cache.scan()
        #expect(state.repositories.map(\.size) == [100, 100])
        #expect(state.totalSize == 100)
        var ledger = DeletionLedger(state)
        #expect(state.repositories.map { ledger.freedBytes($0.revisions, of: $0) } == [0, 0])
    }

    /// Trap 48: `kernels--` is a kind too; buckets are not of this cache.
    @Test func kernelsAreAFourthKindAndOthersAreForeign() throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository("kernels--org--k"))
        for name in ["buckets--a--b", "models--a--b--c", "notes", ".metadata"] {
            try FileSystem.createDirectories(Path.join(cache.layout.root, name))
        }
        try cache.write(Path.join(cache.layout.root, "stray.txt"))
        for name in [".DS_Store", "Thumbs.db", "desktop.ini", ".locks/x/y.lock", "version.txt"] {
            try cache.write(Path.join(cache.layout.root, name))
        }
        let state = try cache.scan()
        #expect(state.repositories.map(\.repository.description) == ["kernels/org/k", "a/b/c"])
        #expect(state.repositories.map(\.hasForeignName) == [false, true])
        #expect(state.remarks.count == 4 && state.foreign.map(\.kind) == [.stranger, .stranger, .stranger])
    }

    @Test func whatIsNoSnapshotIsRemarkedOn() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: folder)
        try cache.write(Path.join(folder.snapshots, "stray.txt"))
        try FileSystem.createDirectories(Path.join(folder.snapshots, "main"))
        try cache.write(Path.join(folder.snapshots, ".DS_Store"))
        let (repository, state) = try only(cache)
        #expect(repository.revisions.map(\.commit) == [.of("a")])
        #expect(state.remarks.count == 2, "what macOS leaves is no fault")
    }

    @Test func anEmptySnapshotIsARevision() throws {
        let cache = try HandmadeCache()
        try FileSystem.createDirectories(cache.repository().snapshot(.of("a")))
        let (repository, _) = try only(cache)
        #expect(repository.revisions.map(\.commit) == [.of("a")] && repository.size == 0)
    }

    @Test func aRepositoryOfARefAloneIsShown() throws {
        let cache = try HandmadeCache()
        try cache.ref("main", .of("a"), in: cache.repository())
        let (repository, _) = try only(cache)
        #expect(repository.revisions.isEmpty && repository.danglingRefs == ["main"])
    }

    // MARK: Completeness

    private func tree(_ cache: HandmadeCache, _ files: [(String, Character, Int64)]) throws {
        let files = files.map { RepositoryFile(path: $0.0, size: $0.2, oid: sha1($0.1)) }
        try cache.repository().writeTree(RepositoryTree(commit: .of("a"), files: files))
    }

    @Test(
        arguments: [
            ([("1111.bin", "1", 3)], true), ([], true), ([("1111.bin", "1", 3), ("more.txt", "2", 1)], false),
            ([("1111.bin", "1", 4)], false),
        ] as [([(String, Character, Int64)], Bool)])
    func aSnapshotIsMeasuredByItsTree(files: [(String, Character, Int64)], isComplete: Bool) throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository())
        try tree(cache, files)
        #expect(try only(cache).repository.revisions[0].isComplete == isComplete)
    }

    @Test func withoutATreeNobodyKnowsWhetherASnapshotIsWhole() throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository())
        #expect(try only(cache).repository.revisions[0].isComplete == nil)
    }

    // MARK: The store that repositories share

    private let hash = "ab" + String(repeating: "c", count: 62)

    /// Traps 5 and 7: known by the first hop, measured at the last.
    @Test func aBlobInTheSharedStoreIsAFileOfEachRepositoryAndCountsOnce() throws {
        let cache = try HandmadeCache()
        try cache.makeStore()
        try cache.payload(hash, size: 1000)
        for name in ["models--org--m", "models--org--n"] {
            let folder = cache.repository(name)
            try cache.share(sha256("1"), hash, in: folder)
            try cache.link("w.bin", to: sha256("1"), at: .of("a"), in: folder)
        }
        let state = try cache.scan()
        #expect(state.repositories.map(\.size) == [1000, 1000])
        #expect(state.repositories.allSatisfy { $0.blobs[sha256("1")]?.sharedHash == hash })
        #expect(state.repositories.allSatisfy { !$0.revisions[0].files[0].isBroken })
        #expect(state.totalSize == 1000 && state.otherSize == 0 && state.unusedPayloads.isEmpty)
        #expect(state.remarks.isEmpty)
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
    }

    @Test func aPayloadThatNobodyLinksToIsSeen() throws {
        let cache = try HandmadeCache()
        try cache.makeStore()
        try cache.payload(hash, size: 1000)
        let state = try cache.scan()
        #expect(state.unusedPayloads.map(\.name) == [hash])
        #expect(state.otherSize == 1000 && state.totalSize == 0 && state.repositories.isEmpty)
    }

    @Test func anOrphanThatLinksIntoTheStoreKeepsItsPayloadFromView() throws {
        let cache = try HandmadeCache()
        try cache.makeStore()
        try cache.payload(hash, size: 1000)
        try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository())
        try cache.share(sha256("1"), hash, in: cache.repository())
        let state = try cache.scan()
        #expect(state.unusedPayloads.isEmpty)
        #expect(state.otherSize == 1000, "the payload's bytes are somewhere")
    }

    /// Trap 11: the marker says exactly `1` and a line end.
    @Test(arguments: ["1", "2\n", "", "1\n\n", "1 \n"])
    func aBlobsFolderWithAnotherMarkerIsNotTheStore(marker: String) throws {
        let cache = try HandmadeCache()
        try cache.makeStore(marker: marker)
        try cache.payload(hash)
        let state = try cache.scan()
        #expect(state.unusedPayloads.isEmpty)
        #expect(state.remarks.count == 1 && state.remarks[0].contains("/blobs belongs to no"))
    }

    /// Trap 11: an unmarked folder is not ours.
    @Test func aBlobsFolderWithoutAMarkerIsNotTheStore() throws {
        let cache = try HandmadeCache()
        try cache.payload(hash)
        #expect(!SharedStore(layout: cache.layout).exists())
        #expect(try cache.scan().remarks.count == 1)
    }

    @Test func aLinkToAPayloadThatIsGoneIsBroken() throws {
        let cache = try HandmadeCache()
        try cache.makeStore()
        try cache.share(sha256("1"), hash, in: cache.repository())
        try cache.link("w.bin", to: sha256("1"), at: .of("a"), in: cache.repository())
        let (repository, _) = try only(cache)
        #expect(repository.blobs[sha256("1")]?.sharedHash == hash)
        #expect(repository.blobs[sha256("1")]?.file == nil)
        #expect(repository.revisions[0].files.map(\.isBroken) == [true])
        #expect(repository.revisions[0].isComplete == false)
    }

    @Test(arguments: [
        ("../../blobs/ab/HASH", true), ("../../blobs/ac/HASH", false), ("../../blobs/HASH", false),
        ("../../blobs/ab/x/HASH", false), ("../../../hub/blobs/ab/HASH", true), ("../../blobs/AB/HASH", false),
        ("../../blobs/ab/../ab/HASH", true), ("../../elsewhere/ab/HASH", false), ("/nowhere/blobs/ab/HASH", false),
        ("ROOT/blobs/ab/HASH", true), ("../../blobs/ab/HASHx", false),
    ])
    func aLinkIsOfTheStoreByItsTextAlone(template: String, isShared: Bool) throws {
        let cache = try HandmadeCache()
        let text = template.replacing("HASH", with: hash).replacing("ROOT", with: cache.layout.root)
        #expect((SharedStore(layout: cache.layout).hash(ofLink: text, in: cache.repository()) == hash) == isShared)
    }

    @Test func aManifestsLinesAreProvenAndThoseOfForeignNamesToo() throws {
        let cache = try HandmadeCache()
        try cache.makeStore()
        let path = try cache.payload(hash)
        for name in ["models--org--m", "models--odd--name--of--another"] {
            try cache.share(sha256("1"), hash, in: cache.repository(name))
        }
        try cache.share(sha256("2"), "ab" + String(repeating: "d", count: 62), in: cache.repository())
        let lines = try #require(try FileSystem.text(path + ".refs"))
        let more = """
            models--org--m/blobs/\(sha256("2"))
            models--gone--gone/blobs/\(sha256("1"))
            ../hub/models--org--m/blobs/\(sha256("1"))
            models--org--m/blobs/../blobs/\(sha256("1"))
            models--org--m/snapshots/x
            /etc/passwd

            nonsense

            """
        try cache.write(path + ".refs", lines + lines + more)
        #expect(
            SharedStore(layout: cache.layout).references(hash)?.sorted() == [
                "models--odd--name--of--another/blobs/\(sha256("1"))", "models--org--m/blobs/\(sha256("1"))",
            ])
    }

    // MARK: Without a scan

    /// Trap 34: many disks keep no time of access; that of modification stands in.
    @Test func theTimeOfUseIsThatOfTheContentAndNotOfTheLink() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 3), (sha1("2"), 30)], in: folder)
        try FileSystem.setTimes(folder.blob(sha1("1")), accessed: 2_000_000, modified: 1)
        try FileSystem.setTimes(folder.blob(sha1("2")), accessed: 1_000_000, modified: 1)
        #expect(try only(cache).repository.revisions[0].lastUsedAt == 2_000_000)
    }

    @Test func aFileOfASnapshotIsPresentOnlyAsTheBlobThatTheTreeNames() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.blob(sha1("1"), size: 3, in: folder)
        try cache.link("a", to: sha1("1"), at: .of("a"), in: folder)
        try cache.write(Path.join(folder.snapshot(.of("a")), "plain"), "123")
        func state(_ path: String, _ digit: Character, _ size: Int64) throws -> SnapshotFile {
            try SnapshotFile.state(
                RepositoryFile(path: path, size: size, oid: sha1(digit)), commit: .of("a"), in: folder)
        }
        #expect(try state("a", "1", 3) == .present)
        #expect(try state("a", "1", 4) == .absent)
        #expect(try state("a", "2", 3) == .absent)
        #expect(try state("plain", "2", 3) == .present)
        #expect(try state("plain", "2", 4) == .absent)
        #expect(try state("b", "1", 3) == .absent)
        try FileSystem.remove(folder.blob(sha1("1")))
        #expect(try state("a", "1", 3) == .absent)
    }
}
