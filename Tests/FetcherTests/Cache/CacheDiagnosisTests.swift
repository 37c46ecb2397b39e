@testable import Fetcher
import HubCore
import Support
import Testing

/// A diagnosis names problems with counts and bytes, and its fixes lose no data.
@Suite struct CacheDiagnosisTests {
    private let cache: HandmadeCache
    private let folder: RepositoryFolder
    /// Later than anything here was touched by more than an hour.
    private let later = Timestamp.now + 2 * CacheFix.rest

    init() throws {
        cache = try HandmadeCache()
        folder = cache.repository()
        try cache.revision(.of("a"), [(sha256("1"), 100)], refs: ["main"], in: folder)
    }

    private typealias Kind = CacheDiagnosis.Finding.Kind

    private func findings(now: Double? = nil, xet: XetFolder? = nil) throws -> [Kind: CacheDiagnosis.Finding] {
        let findings = try CacheDiagnosis(cache.layout, xet: xet, now: now ?? later).findings
        // What depends on the machine that the tests run on.
        let machine: Set<Kind> = [.noAccessTimes, .network, .ofOthers, .unwritable, .worldWritable]
        let kept = findings.filter { !machine.contains($0.kind) }
        #expect(Set(kept.map(\.kind)).count == kept.count, "one finding of a kind")
        return Dictionary(uniqueKeysWithValues: kept.map { ($0.kind, $0) })
    }

    /// Runs what a finding offers; what is left of it then.
    private func fix(_ kind: Kind, now: Double? = nil) throws -> (said: String, left: CacheDiagnosis.Finding?) {
        let fix = try #require(try findings(now: now)[kind]?.fix)
        return (try fix.run(now: now ?? later).text, try findings(now: now)[kind])
    }

    @Test func nothingIsWrongWithAnEmptyCacheAndAWholeOne() throws {
        #expect(try findings().isEmpty)
        #expect(try CacheDiagnosis(CacheLayout("/nowhere/at/all"), xet: nil, now: 0).findings.isEmpty)
    }

    // MARK: Refs

    @Test func aRefWithALineEndIsWrittenAnew() throws {
        for name in ["main", "refs/pr/1"] { try cache.write(folder.ref(name), Commit.of("a").hash + "\r\n") }
        #expect(try findings()[.refsWithSpace]?.count == 2)
        let (said, left) = try fix(.refsWithSpace)
        #expect(said == "2 refs rewritten" && left == nil)
        #expect(try FileSystem.contents(folder.ref("refs/pr/1")) == Array(Commit.of("a").hash.utf8))
        #expect(try PythonScan(cache.layout.root).revisions.count == 1)
    }

    @Test func aDanglingRefGoesWhenItHasBeenLeftAloneForAnHour() throws {
        try cache.ref("gone", .of("f"), in: folder)
        let fresh = try findings(now: Timestamp.now)[.danglingRefs]
        #expect(fresh?.count == 1 && fresh?.fix == nil, "a download of Python's begins with the ref")
        let (said, left) = try fix(.danglingRefs)
        #expect(said == "1 ref deleted" && left == nil)
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
    }

    @Test func aDanglingRefStaysWhereItsSnapshotHasCome() throws {
        try cache.ref("next", .of("f"), in: folder)
        let fix = try #require(try findings()[.danglingRefs]?.fix)
        try FileSystem.createDirectories(folder.snapshot(.of("f")))
        #expect(try fix.run(now: later).text == "0 refs deleted")
        #expect(FileSystem.exists(folder.ref("next")))
    }

    @Test func aDanglingRefStaysWhileAnyBlobIsLocked() throws {
        try cache.ref("next", .of("f"), in: folder)
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(sha256("9")), [.write, .create])
        #expect(try lock.tryLock() == true)
        #expect(try fix(.danglingRefs).said == "0 refs deleted")
        _ = consume lock
    }

    /// The disk that a link leads to may be away: nothing then says that a snapshot is gone.
    @Test func behindALinkNothingIsFixed() throws {
        try cache.ref("gone", .of("f"), in: folder)
        try cache.write(folder.ref("spaced"), Commit.of("a").hash + "\n")
        try cache.write(folder.tree(.of("f")), "{}")
        try FileSystem.removeTree(folder.snapshots)
        try FileSystem.createSymlink("/nowhere/that/is", at: folder.snapshots)
        let found = try findings()
        for kind in [Kind.danglingRefs, .refsWithSpace, .trees, .lonelyPartials] {
            #expect(found[kind]?.fix == nil, "\(kind)")
        }
        #expect(found[.linkedFolders]?.count == 1)
        // Not even where the link came after the look.
        #expect(!CacheFix.isOfGoneRevision(tree: folder.tree(.of("f"))))
    }

    @Test func aRefWithoutACommitIsSaidAndStays() throws {
        try cache.write(folder.ref("odd"), "what?")
        try cache.write(folder.ref("empty"))
        let finding = try findings()[.refsWithoutCommit]
        #expect(finding?.count == 2 && finding?.fix == nil)
        #expect(try findings()[.danglingRefs] == nil, "it is told once")
    }

    // MARK: Content

    @Test func brokenLinksOrphansAndDetachedRevisionsAreCounted() throws {
        try cache.link("gone.bin", to: sha256("7"), at: .of("a"), in: folder)
        try cache.blob(sha256("8"), size: 30, in: folder)
        try cache.revision(.of("b"), [(sha256("1"), 100), (sha256("2"), 20)], in: folder)
        let found = try findings()
        #expect(found[.brokenLinks]?.paths == [Path.join(folder.snapshot(.of("a")), "gone.bin")])
        #expect(found[.orphans]?.count == 1 && found[.orphans]?.bytes == 30)
        #expect(
            found[.detached]?.count == 1 && found[.detached]?.bytes == 20, "what others need does not go with it")
        #expect(found[.orphans]?.fix == nil && found[.detached]?.fix == nil)
    }

    @Test func aFirstDownloadThatWasCutOffIsNotDetached() throws {
        let other = cache.repository("models--org--n")
        try cache.revision(.of("d"), [(sha256("1"), 100)], in: other)
        try cache.blob("\(sha256("3")).hub.incomplete", size: 5, in: other)
        let found = try findings()
        #expect(found[.detached] == nil)
        #expect(found[.unfinished]?.paths == [other.path])
    }

    @Test func onlySomePathsAreKeptAndAllAreCounted() throws {
        for number in 10..<50 { try cache.blob(sha256("8").dropLast(2) + "\(number)", size: 2, in: folder) }
        let finding = try #require(try findings()[.orphans])
        #expect(finding.count == 40 && finding.bytes == 80 && finding.paths.count == CacheDiagnosis.mostPaths)
    }

    @Test func filesOfACacheWithoutLinksAreCounted() throws {
        try cache.write(Path.join(folder.snapshot(.of("a")), "plain.bin"), "12345")
        #expect(try findings()[.plainFiles]?.bytes == 5)
    }

    @Test func partialsAreToldByWhoseTheyAre() throws {
        let etag = sha256("3")
        for (name, size) in [
            ("\(etag).hub.incomplete", 1), ("\(etag).hub.map.incomplete", 2), ("\(etag).0a1b2c3d.incomplete", 4),
            ("\(etag).incomplete", 8), (".\(etag).0a1b2c3d.new", 16), ("tmp_0b1c", 32), ("strange.tmp", 64),
        ] { try cache.blob(name, size: size, in: folder) }
        #expect(try findings(now: Timestamp.now)[.stalePartials] == nil, "somebody may be at work")
        let finding = try #require(try findings()[.stalePartials])
        #expect(finding.count == 7 && finding.bytes == 127)
        #expect(
            finding.detail
                == "2 of hub (3 B), 1 of huggingface_hub (4 B), 1 of older clients (8 B), "
                + "2 of huggingface_hub, replacing a file (48 B), 1 of nobody known (64 B)")
        #expect(finding.fix == nil)
    }

    @Test func aPartialOfOursWithoutItsMapGoes() throws {
        try cache.blob("\(sha256("3")).hub.incomplete", size: 9, in: folder)
        try cache.blob("\(sha256("4")).hub.incomplete", size: 9, in: folder)
        try cache.blob("\(sha256("4")).hub.map.incomplete", size: 9, in: folder)
        #expect(try findings()[.lonelyPartials]?.bytes == 9)
        let (said, left) = try fix(.lonelyPartials)
        #expect(said == "9 B freed" && left == nil)
        #expect(FileSystem.exists(folder.blob("\(sha256("4")).hub.incomplete")))
    }

    @Test func aPartialThatIsBeingFetchedStays() throws {
        let name = "\(sha256("3")).hub.incomplete"
        try cache.blob(name, size: 9, in: folder)
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(sha256("3")), [.write, .create])
        #expect(try lock.tryLock() == true)
        #expect(try fix(.lonelyPartials).said == "0 B freed")
        lock.unlock()
        let fix = try #require(try findings()[.lonelyPartials]?.fix)
        try cache.blob("\(sha256("3")).hub.map.incomplete", in: folder)
        #expect(try fix.run(now: later).text == "0 B freed", "it has got its map since")
    }

    @Test func aPayloadWithoutAUserIsCounted() throws {
        try cache.makeStore()
        let hash = "ab" + String(repeating: "c", count: 62)
        let path = try cache.payload(hash, size: 900)
        let finding = try findings()[.unusedPayloads]
        #expect(finding?.paths == [path] && finding?.bytes == 900)
    }

    // MARK: What is left over

    @Test func whatNobodyEverRemovesIsCounted() throws {
        for name in ["a.json", "sub/b.json"] {
            try cache.write(Path.join(folder.missing, "\(Commit.of("a"))/\(name)"))
        }
        try cache.write(folder.tree(.of("a")), "{}")
        try cache.write(folder.tree(.of("e")), "12345")
        try cache.write(folder.ref("main.0a1b2c3d.tmp"), Commit.of("a").hash)
        try FileSystem.createDirectories(Path.join(cache.layout.root, "tmpab12"))
        try FileSystem.createSymlink("probe", at: folder.blob("links.hub.incomplete"))
        for etag in [sha256("1"), sha256("6")] { try cache.write(folder.lock(etag)) }
        // Where the Swift client of Hugging Face keeps its own.
        try cache.write(Path.join(folder.locks, "blobs/\(sha256("1")).lock"))
        let found = try findings()
        #expect(found[.missing]?.count == 2)
        #expect(found[.trees]?.paths == [folder.tree(.of("e"))] && found[.trees]?.bytes == 5)
        #expect(found[.temporaries]?.count == 2)
        #expect(found[.probes]?.count == 1)
        #expect(found[.locks]?.paths == [folder.lock(sha256("6"))])
        #expect(try fix(.trees).left == nil)
        #expect(try fix(.probes).left == nil)
        #expect(FileSystem.exists(folder.tree(.of("a"))) && FileSystem.exists(folder.blob(sha256("1"))))
    }

    @Test func namesThatAreNobodysAreTold() throws {
        try cache.write(Path.join(cache.layout.root, "notes.txt"))
        try FileSystem.createDirectories(Path.join(cache.layout.root, "models--a--b--c"))
        try cache.write(Path.join(folder.snapshots, "stray.txt"))
        let elsewhere = cache.folder("elsewhere")
        try FileSystem.createDirectories(elsewhere)
        try FileSystem.createSymlink(elsewhere, at: cache.repository("models--on--another-disk").path)
        let found = try findings()
        #expect(found[.strangers]?.count == 1 && found[.foreignNames]?.count == 1)
        #expect(found[.misplaced]?.count == 1 && found[.linkedFolders]?.count == 1)
    }

    @Test func whatEverybodyMayWriteIsToldButForTheStoresOwn() throws {
        try cache.makeStore()
        let path = try cache.payload("ab" + String(repeating: "c", count: 62))
        for name in [path + ".refs", path + ".lock", folder.blob(sha256("1"))] {
            try FileSystem.setMode(name, 0o666)
        }
        let findings = try CacheDiagnosis(cache.layout, xet: nil, now: later).findings
        #expect(findings.first { $0.kind == .worldWritable }?.paths == [folder.blob(sha256("1"))])
    }

    // MARK: Xet

    @Test func theXetFolderIsMeasuredAndSweptWhenIdle() throws {
        let xet = XetFolder(path: cache.folder("xet"))
        #expect(try findings(xet: xet)[.xet] == nil)
        let server = cache.folder("xet/https___cas_serv-abc")
        for (name, size) in [("chunk-cache/aa/x", 100), ("shard-cache/s", 20), ("staging/session/y", 3)] {
            try cache.write(Path.join(server, name), [UInt8](repeating: 1, count: size))
        }
        try cache.write(cache.folder("xet/logs/log"), "l")
        let busy = try #require(try findings(now: Timestamp.now, xet: xet)[.xet])
        #expect(busy.bytes == 124 && busy.count == 4 && busy.fix == nil)
        let fix = try #require(try findings(xet: xet)[.xet]?.fix)
        #expect(try fix.run(now: Timestamp.now).text == "0 B freed", "a transfer has begun since")
        #expect(try fix.run(now: later).text == "120 B freed")
        #expect(xet.contents().bytes == 4, "what waits to be uploaded stays")
    }
}
