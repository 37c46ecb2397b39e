import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// Content that the cache holds already under another repository.
@Suite struct PullReuseTests {
    private let bench = try! PullBench()
    private let weights: [UInt8]
    private let text = Array("the same words\n".utf8)

    init() throws {
        let one = try ModelRepository("org/one", in: bench.served)
        let two = try ModelRepository("org/two", in: bench.served)
        weights = try one.noise("w.safetensors", size: 3 << 18, seed: 9)
        try two.write("renamed.safetensors", weights)
        try one.write("t.txt", text)
        try two.write("t.txt", text)
    }

    private func cdnTwo() -> [LoggedRequest] { bench.hub.requests("renamed", on: .cdn) }

    @Test func contentOfAnotherRepositoryIsNotFetched() async throws {
        let one = try await bench.pull("org/one")
        let digest = PullBench.sha256(weights)
        let plan = try await bench.puller().plan(ModelReference(parsing: "org/two"), .init())
        #expect(plan.reusableBytes == Int64(weights.count))
        #expect(plan.totals.downloadBytes == Int64(text.count))
        let two = try await bench.pull("org/two")
        #expect(two.error == nil)
        #expect(bench.hub.requests("renamed").isEmpty)
        try expectContent(bench.place("renamed.safetensors", two), weights)
        #expect(two.files.map(\.status) == [.linked, .downloaded])
        // Removing one leaves the other.
        try FileSystem.removeTree(try bench.folder("org/one").path)
        try expectContent(try bench.folder("org/two").blob(digest), weights)
        #expect(one.error == nil)
        #expect(try PullBench.leftovers(try bench.folder("org/two")).isEmpty)
    }

    /// git's SHA-1 can be forged, so the text is fetched although the same is there.
    @Test func nothingIsReusedBecauseOfGitsHash() async throws {
        try await bench.pull("org/one")
        let two = try await bench.pull("org/two")
        #expect(two.error == nil)
        #expect(bench.hub.requests("org/two/.*t.txt").count == 2)
    }

    @Test func aDamagedSourceIsNotUsedAndNotTouched() async throws {
        try await bench.pull("org/one")
        let source = try bench.folder("org/one").blob(PullBench.sha256(weights))
        var damaged = weights
        damaged[500_000] ^= 4
        try FileSystem.replace(source, with: damaged)
        let two = try await bench.pull("org/two")
        #expect(two.error == nil)
        try expectContent(bench.place("renamed.safetensors", two), weights)
        try expectContent(source, damaged)
        #expect(try PullBench.asked(cdnTwo()).reduce(0) { $0 + $1.count } == weights.count)
    }

    /// What a plan saw may be gone, or be something that cannot be read at all, when the pull comes to it.
    @Test(arguments: ["gone", "folder", "broken link"]) func aSourceThatCannotBeReadIsFetchedInstead(
        _ kind: String
    ) async throws {
        try await bench.pull("org/one")
        let puller = try bench.puller()
        let plan = try await puller.plan(ModelReference(parsing: "org/two"), .init())
        let source = try bench.folder("org/one").blob(PullBench.sha256(weights))
        try FileSystem.remove(source)
        switch kind {
        case "folder": try FileSystem.createDirectories(source)
        case "broken link": try FileSystem.createSymlink("../nowhere", at: source)
        default: break
        }
        let two = try await puller.pull(plan, .init())
        #expect(two.error == nil)
        try expectContent(bench.place("renamed.safetensors", two), weights)
    }

    @Test func severalPathsOfOneContentAreProvenOnce() async throws {
        try ModelRepository("org/two", in: bench.served).write("again.safetensors", weights)
        try await bench.pull("org/one")
        let record = PullBench.Record()
        let two = try await bench.pull("org/two", record: record)
        #expect(two.error == nil)
        #expect(record.lines.filter { $0.range(of: "taken from") != nil }.count == 1)
        try expectContent(bench.place("again.safetensors", two), weights)
        try expectContent(bench.place("renamed.safetensors", two), weights)
        #expect(bench.hub.requests("renamed|again").isEmpty)
    }

    /// Verifying a large file takes long; an interruption does not wait for it.
    @Test func aProofCanBeInterrupted() async throws {
        let one = try await bench.pull("org/one")
        let file = try #require(one.plan.files.last?.file)
        let folder = try bench.folder("org/two")
        #expect(throws: CancellationError.self) {
            try BlobReuse.adopt(
                file, from: try bench.folder("org/one").blob(file.digest.hex), to: folder.places(file),
                isCancelled: { true },
                progress: { _ in })
        }
        #expect(!FileSystem.exists(folder.blob(file.digest.hex)))
    }

    @Test func anInterruptionDuringReuseIsACancellation() async throws {
        try await bench.pull("org/one")
        let result = try await bench.cancelledAtOnce("org/two")
        #expect(result.error?.code == .cancelled)
        #expect(result.files.count == 2)
    }

    @Test func aLockedBlobIsNotReusedUnderItsHolder() async throws {
        try await bench.pull("org/one")
        let folder = try bench.folder("org/two")
        let digest = PullBench.sha256(weights)
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(digest), [.write, .create])
        #expect(try lock.tryLock() == true)
        let record = PullBench.Record()
        let work = Task { try await bench.pull("org/two", record: record) }
        try await record.waitForEvent("waiting") { if case .waiting = $0 { true } else { false } }
        #expect(!FileSystem.exists(folder.blob(digest)))
        lock.unlock()
        let two = try await work.value
        #expect(two.error == nil)
        try expectContent(bench.place("renamed.safetensors", two), weights)
    }

    /// Another pull has just put a file into a local folder without metadata yet.
    @Test func aLockedFileInAFolderOfOnesOwnIsWaitedFor() async throws {
        let local = LocalFolder(bench.box("mine"))
        var options = Puller.Options()
        options.destination = .folder(local)
        let first = try await bench.pull("org/one", options)
        let file = try #require(first.plan.files.first { $0.file.isLFS }?.file)
        try FileSystem.remove(Path.join(local.path, ".cache/huggingface/download/\(file.path).metadata"))
        let fetched = bench.hub.requests("^GET", on: .cdn).count
        let lock = try FileDescriptor(local.places(file).lock, [.write, .create])
        #expect(try lock.tryLock() == true)
        let record = PullBench.Record()
        let work = Task { [options] in try await bench.pull("org/one", options, record: record) }
        try await record.waitForEvent("waiting") { if case .waiting = $0 { true } else { false } }
        lock.unlock()
        let second = try await work.value
        #expect(second.error == nil)
        #expect(try local.state(of: file) == .unchanged)
        #expect(bench.hub.requests("^GET", on: .cdn).count == fetched)
    }

    /// Content shared by two models needs space once; in local folders every file needs its own.
    @Test func theRoomThatPlansNeedTogether() async throws {
        let puller = try bench.puller()
        let one = try await puller.plan(ModelReference(parsing: "org/one"), .init())
        let two = try await puller.plan(ModelReference(parsing: "org/two"), .init())
        let size = Int64(weights.count)
        let rest = one.totals.neededBytes - size
        #expect(PullTotals([one, two]).neededBytes == two.totals.neededBytes + rest)
        #expect(PullTotals([one, two]).downloadBytes == two.totals.downloadBytes + rest)
        try await bench.pull("org/one")
        let after = try await puller.plan(ModelReference(parsing: "org/two"), .init())
        #expect(after.totals.neededBytes == two.totals.neededBytes - size)
        var options = Puller.Options()
        options.destination = .folder(LocalFolder(bench.box("mine")))
        let local = try await puller.plan(ModelReference(parsing: "org/one"), options)
        #expect(local.totals.neededBytes == local.totalBytes)
        #expect(local.totals.downloadBytes == 0)
    }

    /// What is proven, fetched or found, leaves behind what later damage is placed with.
    @Test func theRangeDigestsOfWhatIsProvenAreKept() async throws {
        let size = Int(RangeDigests.rangeBytes) * 2 + 5
        try ModelRepository("org/large", in: bench.served).noise("w.safetensors", size: size, seed: 5)
        let catalog = try Catalog(path: bench.box("state/catalog.sqlite3"))
        let result = try await bench.pull("org/large", catalog: catalog)
        let file = try #require(result.plan.files.first?.file)
        let ranges = try #require(try catalog.rangeDigests(of: file.digest))
        let blob = result.plan.folder.blob(file.digest.hex)
        #expect(try ranges.damage(in: blob, digest: file.digest, size: file.size).isEmpty)
        let damaged = try FileDescriptor(blob, [.write])
        try [UInt8]([1, 2, 3]).withUnsafeBytes { try damaged.write($0, at: RangeDigests.rangeBytes + 9) }
        #expect(
            try ranges.damage(in: blob, digest: file.digest, size: file.size)
                == [RangeDigests.rangeBytes..<2 * RangeDigests.rangeBytes])
    }
}
