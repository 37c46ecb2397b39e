import HubCore
import Support
import Testing

@testable import Fetcher

/// Two at once, and the lock that Python takes too.
@Suite struct PullLockTests {
    private let bench = try! PullBench()
    private let bytes: [UInt8]
    private let folder: RepositoryFolder
    private let digest: String

    init() throws {
        let repository = try ModelRepository("org/m", in: bench.served)
        bytes = try repository.noise("w.safetensors", size: 12 << 16, seed: 8)
        try repository.write("a.txt", "small")
        folder = try bench.folder("org/m")
        digest = PullBench.sha256(bytes)
    }

    /// A lock as another process holds it: flock is the open file's, so a second one in this process counts as well.
    private func takeLock() throws -> FileDescriptor {
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(digest), [.write, .create], mode: 0o664)
        #expect(try lock.tryLock() == true)
        return lock
    }

    private func cdn() -> [LoggedRequest] { bench.hub.requests("^GET", on: .cdn) }

    @Test func aHeldLockIsWaitedForAndToldOnce() async throws {
        let lock = try takeLock()
        let record = PullBench.Record()
        let work = Task { try await bench.pull("org/m", record: record) }
        try await record.waitForEvent("waiting") { if case .waiting = $0 { true } else { false } }
        // The unlocked file arrives meanwhile.
        try await record.waitForEvent("the end of the small file") {
            if case .finished(let file) = $0 { file.path == "a.txt" } else { false }
        }
        try await Task.sleep(nanoseconds: 200_000_000)
        #expect(bench.hub.requests("resolve/.*safetensors").isEmpty)
        #expect(try PullBench.leftovers(folder).isEmpty)
        lock.unlock()
        let result = try await work.value
        #expect(result.error == nil)
        #expect(record.waits == ["w.safetensors"])
        try expectContent(bench.place("w.safetensors", result), bytes)
        // Never deleted, not even when all is done.
        #expect(FileSystem.exists(folder.lock(digest)))
    }

    /// The bar grows as the other process's partial does.
    @Test func whatTheOtherProcessHasIsShownWhileWaiting() async throws {
        let lock = try takeLock()
        let record = PullBench.Record()
        let work = Task { try await bench.pull("org/m", record: record) }
        let file = try #require(
            try await bench.puller().plan(ModelReference(parsing: "org/m"), .init()).files.first {
                $0.file.isLFS
            }?.file)
        try FileSystem.createDirectories(folder.blobs)
        try RangeMap(
            digest: file.digest, size: file.size, inode: 1, nonce: "n", owner: nil, safe: IntervalSet([0..<300_000])
        ).write(folder.partialMap(digest))
        try await record.waitForEvent("the other's bytes") {
            guard case .progress(let progress) = $0, progress.waiting != nil else { return false }
            return progress.active.map(\.received) == [300_000] && progress.completedBytes == 300_005
        }
        lock.unlock()
        let result = try await work.value
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), bytes)
    }

    /// Trap 25: what another process has finished is seen once the lock is ours.
    @Test func aBlobThatAppearsWhileWaitingIsLinkedWithoutAGet() async throws {
        let lock = try takeLock()
        let record = PullBench.Record()
        let work = Task { try await bench.pull("org/m", record: record) }
        try await record.waitForEvent("waiting") { if case .waiting = $0 { true } else { false } }
        try FileSystem.replace(folder.blob(digest), with: bytes)
        lock.unlock()
        let result = try await work.value
        #expect(result.error == nil)
        #expect(result.files.first { $0.path == "w.safetensors" }?.status == .linked)
        #expect(bench.hub.requests("safetensors").isEmpty)
        try expectContent(bench.place("w.safetensors", result), bytes)
    }

    @Test func waitingForALockCanBeInterrupted() async throws {
        let lock = try takeLock()
        let record = PullBench.Record()
        let result = try await bench.interrupted("org/m", record: record) {
            try await record.waitForEvent("waiting") { if case .waiting = $0 { true } else { false } }
        }
        #expect(result.error?.code == .cancelled)
        #expect(try lock.status().links == 1)
    }

    /// Trap 25: a lock on a deleted file excludes nobody.
    @Test func aLockFileDeletedBetweenLocksNobodyOut() async throws {
        let lock = try takeLock()
        let record = PullBench.Record()
        let work = Task { try await bench.pull("org/m", record: record) }
        try await record.waitForEvent("waiting") { if case .waiting = $0 { true } else { false } }
        try FileSystem.remove(folder.lock(digest))
        let result = try await work.value
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), bytes)
        #expect(try lock.status().links == 0)
    }

    /// Someone tidies `.locks` away while a pull is in the middle: the second pull must not write into the first one's
    /// partial, which is about to be proven.
    @Test func aLockFileDeletedUnderAPullStillKeepsTheSecondOutOfItsPartial() async throws {
        let gate = bench.hub.hold("^GET", after: 90_000, times: nil, on: .cdn)
        var first = try bench.puller()
        first.limits.flushBytes = 1 << 16
        let plan = try await first.plan(ModelReference(parsing: "org/m"), .init())
        let running = first
        let work = Task { try await running.pull(plan, .init()) }
        try await gate.reached(6)
        try await eventually("the map") { FileSystem.exists(folder.partialMap(digest)) }
        try FileSystem.removeTree(folder.locks)
        let record = PullBench.Record()
        let second = Task { try await bench.pull("org/m", record: record) }
        try await record.waitForEvent("waiting") { if case .waiting = $0 { true } else { false } }
        gate.release()
        for result in [try await work.value, try await second.value] {
            #expect(result.error == nil)
            try expectContent(bench.place("w.safetensors", result), bytes)
        }
        #expect(try PullBench.asked(cdn()).reduce(0) { $0 + $1.count } == bytes.count)
        #expect(try PullBench.leftovers(folder).isEmpty)
    }

    @Test func twoPullsInOneProcessFetchNoByteTwice() async throws {
        let gate = bench.hub.hold("^GET", after: 100_000, times: nil, on: .cdn)
        let (one, two) = (PullBench.Record(), PullBench.Record())
        async let first = bench.pull("org/m", record: one)
        async let second = bench.pull("org/m", record: two)
        try await gate.reached()
        try await eventually("one of them waits") { !(one.waits + two.waits).isEmpty }
        gate.release()
        let results = try await [first, second]
        for result in results {
            #expect(result.error == nil)
            try expectContent(bench.place("w.safetensors", result), bytes)
        }
        #expect(try PullBench.asked(cdn()).reduce(0) { $0 + $1.count } == bytes.count)
        #expect(results.reduce(0) { $0 + $1.downloadedBytes } == Int64(bytes.count + 5))
        #expect(bench.hub.requests("resolve-cache/.*a.txt").count == 1)
    }

    @Test func manyPullsAtOnceFetchNoByteTwice() async throws {
        let bench = bench
        let total = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let result = try await bench.pull("org/m")
                    #expect(result.error == nil)
                    return result.downloadedBytes
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(total == Int64(bytes.count + 5))
        #expect(try PullBench.leftovers(folder).isEmpty)
    }

    /// Trap 25: fcntl's locks and flock's do not see each other; ours must be flock.
    @Test func theLockIsHeldWhileThePullRunsAndGivenBackAfterwards() async throws {
        let gate = bench.hub.hold("^GET", after: 1000, times: nil, on: .cdn)
        let work = Task { try await bench.pull("org/m") }
        try await gate.reached()
        let lock = try FileDescriptor(folder.lock(digest), [.write])
        #expect(try lock.tryLock() == false)
        gate.release()
        #expect(try await work.value.error == nil)
        #expect(try lock.tryLock() == true)
    }
}
