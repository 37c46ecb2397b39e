import HubCore
import Support
import Testing

@testable import Fetcher

/// Invariant 2: what was safe is never fetched again, and nothing is called safe that is not.
@Suite struct PullResumeTests {
    private let bench = try! PullBench()
    private let bytes: [UInt8]
    private let folder: RepositoryFolder
    private let digest: String

    init() throws {
        bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 24 << 16, seed: 5)
        folder = try bench.folder("org/m")
        digest = PullBench.sha256(bytes)
    }

    private var partial: String { folder.partial(digest) }
    private var map: String { folder.partialMap(digest) }

    /// Stops a pull after some bytes of each of its first ranges have come.
    ///
    /// - Parameter known: bytes that an earlier one has kept.
    private func stopped(after count: Int64 = 100_000, beyond known: Int64 = 0) async throws -> Puller.Result {
        let gate = bench.hub.hold("^GET", after: count, times: nil, on: .cdn)
        let record = PullBench.Record()
        let result = try await bench.interrupted("org/m", record: record) {
            try await gate.reached(8)
            try await record.waitForEvent("bytes") {
                if case .progress(let progress) = $0 { progress.completedBytes > known } else { false }
            }
        }
        bench.hub.clearFaults()
        gate.release()
        return result
    }

    private func expectTruth() throws -> RangeMap {
        let map = try #require(RangeMap.read(map))
        #expect(map.digest.hex == digest)
        #expect(map.size == Int64(bytes.count))
        let status = try #require(try FileSystem.linkStatus(partial))
        #expect(status.size == map.size)
        #expect(status.inode == map.inode)
        let file = try FileDescriptor(partial)
        for range in map.safe.ranges {
            var found = [UInt8](repeating: 0, count: range.count)
            let count = try found.withUnsafeMutableBytes { try file.read(into: $0, at: range.lowerBound) }
            #expect(count == range.count)
            #expect(found.elementsEqual(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
        return map
    }

    private func expectWhole(_ result: Puller.Result) throws {
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), bytes)
        #expect(try PullBench.leftovers(folder).isEmpty)
    }

    @Test func anInterruptedPullKeepsEveryByteThatCameAndGoesOn() async throws {
        let first = try await stopped()
        #expect(first.error?.code == .cancelled)
        #expect(first.files.map(\.status) == [.failed])
        #expect(try FileSystem.entries(folder.refs) == nil)
        let safe = try expectTruth().safe
        #expect(safe.count > 0)
        // A stop that was asked for loses nothing at all.
        #expect(safe.count == first.downloadedBytes)
        let plan = try await bench.puller().plan(ModelReference(parsing: "org/m"), .init())
        #expect(plan.totals.partialBytes == safe.count)
        #expect(plan.totals.downloadBytes == Int64(bytes.count) - safe.count)

        let before = bench.hub.requests("^GET", on: .cdn).count
        let second = try await bench.pull("org/m")
        try expectWhole(second)
        let asked = try PullBench.asked(Array(bench.hub.requests("^GET", on: .cdn).dropFirst(before)))
        for range in asked { #expect(safe.gaps(in: range) == [range], "a safe byte was asked for again") }
        #expect(asked.reduce(0) { $0 + Int64($1.count) } == Int64(bytes.count) - safe.count)
        #expect(second.downloadedBytes == Int64(bytes.count) - safe.count)
    }

    @Test func aSecondInterruptionKeepsWhatTheFirstHadKept() async throws {
        _ = try await stopped(after: 50_000)
        let first = try expectTruth().safe
        _ = try await stopped(after: 60_000, beyond: first.count)
        let second = try expectTruth().safe
        #expect(first.ranges.allSatisfy { second.gaps(in: $0).isEmpty })
        #expect(second.count > first.count)
        try expectWhole(try await bench.pull("org/m"))
    }

    @Test func flushedBytesAreInTheMapWhileThePullRuns() async throws {
        let gate = bench.hub.hold("^GET", after: 120_000, times: nil, on: .cdn)
        var puller = try bench.puller()
        puller.limits.flushBytes = 1 << 16
        let plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
        let running = puller
        let work = Task { try await running.pull(plan, .init()) }
        try await gate.reached(8)
        try await eventually("a map") { FileSystem.exists(map) }
        #expect(try expectTruth().safe.count >= 1 << 16)
        gate.release()
        try expectWhole(try await work.value)
    }

    /// All bytes are here and only the proof is missing when the interruption comes.
    @Test func anInterruptionBetweenTheLastByteAndTheProofLosesNothing() async throws {
        try FileSystem.removeTree(bench.served("org/m"))
        let small = try ModelRepository("org/m", in: bench.served).noise("s.safetensors", size: 8000, seed: 6)
        let gate = bench.hub.hold("^GET", after: 4000, on: .cdn)
        let puller = try bench.puller()
        let plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
        let record = PullBench.Record()
        let task = Monitor<Task<Puller.Result, any Error>?>(nil)
        let work = Task {
            try await puller.pull(plan, .init()) { event in
                record.hear(event)
                if case .progress(let progress) = event, progress.completedBytes == 8000 {
                    task.update { $0?.cancel() }
                }
            }
        }
        task.update { $0 = work }
        try await record.waitForEvent("the first half") {
            if case .progress(let progress) = $0 { progress.completedBytes > 0 } else { false }
        }
        gate.release()
        let result = try await work.value
        let before = bench.hub.requests("^GET", on: .cdn).count
        #expect(result.error?.code == .cancelled)
        #expect(RangeMap.read(folder.partialMap(PullBench.sha256(small)))?.safe.ranges == [0..<8000])
        let again = try await bench.pull("org/m")
        #expect(again.error == nil)
        #expect(bench.hub.requests("^GET", on: .cdn).count == before)
        try expectContent(bench.place("s.safetensors", again), small)
    }

    @Test func cancellingBeforeTheFirstRequestEndsAndLeavesNothingHeavy() async throws {
        let result = try await bench.cancelledAtOnce("org/m")
        #expect(result.error?.code == .cancelled)
        #expect(try PullBench.leftovers(folder).isEmpty)
        #expect(bench.hub.requests("/resolve/").isEmpty)
    }

    @Test func cancellingManyTimesEndsManyTimes() async throws {
        var random = SeededRandom(state: 1)
        for round in 0..<25 {
            let steps = Int.random(in: 0...8, using: &random)
            let record = PullBench.Record()
            let result: Puller.Result
            do {
                result = try await bench.interrupted("org/m", record: record) {
                    for _ in 0..<steps { await Task.yield() }
                    if round % 3 == 0 { try await record.waitForRangeOrProof() }
                }
            } catch is CancellationError {
                // While it was still planned.
                continue
            }
            if result.error == nil { break }
            #expect(result.error?.code == .cancelled)
            if FileSystem.exists(map) { _ = try expectTruth() }
        }
        try expectWhole(try await bench.pull("org/m"))
    }

    // MARK: What others do to a partial

    enum Damage: CaseIterable {
        case noMap, emptyMap, brokenMap, truncated, grown, replaced, otherDigest, beyondTheSize, onlyTheMap,
            wrongBytes
        case emptied
    }

    @Test(arguments: Damage.allCases) func aDamagedPartialEndsInAVerifiedFile(_ damage: Damage) async throws {
        _ = try await stopped()
        let good = try expectTruth()
        let size = Int64(bytes.count)
        switch damage {
        case .noMap: try FileSystem.remove(map)
        case .emptyMap: try FileSystem.replace(map, with: [])
        case .brokenMap: try FileSystem.replace(map, with: Array("{\"version\":1,".utf8))
        case .truncated: try FileDescriptor(partial, [.write]).truncate(to: size - 1)
        case .grown: try FileDescriptor(partial, [.write]).truncate(to: size + 1)
        case .emptied: try FileDescriptor(partial, [.write]).truncate(to: 0)
        case .replaced:
            try FileSystem.remove(partial)
            try FileDescriptor(partial, [.write, .create]).truncate(to: size)
        case .otherDigest:
            var map = good
            map.digest = .sha256(String(repeating: "1", count: 64))
            try map.write(self.map)
        case .beyondTheSize:
            var map = good
            map.safe.insert(0..<size + 1)
            try map.write(self.map)
        case .onlyTheMap: try FileSystem.remove(partial)
        case .wrongBytes:
            // A map that claims too much: what a client would write that says so before it is so.
            var map = good
            map.safe.insert(0..<size)
            try map.write(self.map)
        }
        let record = PullBench.Record()
        try expectWhole(try await bench.pull("org/m", record: record))
        // Only a claim that cannot be seen to be wrong costs a second fetch, and the digest finds it.
        let refetches = record.retries.filter { $0.range(of: "digest") != nil }.count
        #expect(refetches == ([.replaced, .wrongBytes].contains(damage) ? 1 : 0))
    }

    @Test func aPartialThatIsAFolderOrALinkIsNotFollowed() async throws {
        let victim = try bench.box.write("victim", "mine")
        try FileSystem.createDirectories(folder.blobs)
        try FileSystem.createSymlink(victim, at: partial)
        try expectWhole(try await bench.pull("org/m"))
        #expect(try FileSystem.text(victim) == "mine")
    }

    /// Traps 27 and 28: these names are other clients', who append to them or delete them.
    @Test func anotherClientsPartialIsLeftAlone() async throws {
        let foreign = ["\(digest).incomplete", "\(digest).0a1b2c3d.incomplete"]
        for name in foreign { try bench.box.write("cache/models--org--m/blobs/\(name)", "of another client") }
        let result = try await bench.pull("org/m")
        #expect(result.error == nil)
        for name in foreign {
            #expect(try FileSystem.text(Path.join(folder.blobs, name)) == "of another client")
        }
    }

    /// Trap 27: Python's prune deletes partials at any moment.
    @Test func aPartialDeletedWhileThePullRunsStillEndsInAVerifiedFile() async throws {
        let gate = bench.hub.hold("^GET", after: 100_000, times: nil, on: .cdn)
        let work = Task { try await bench.pull("org/m") }
        try await gate.reached(8)
        for name in try PullBench.leftovers(folder) { try FileSystem.remove(Path.join(folder.path, name)) }
        #expect(!FileSystem.exists(partial))
        gate.release()
        try expectWhole(try await work.value)
        let listing = try PullBench.listing(folder.blobs)
        #expect(listing.count == 1)
    }

    @Test func theWholeRepositoryDeletedWhileThePullRunsStillEndsInAVerifiedFile() async throws {
        let gate = bench.hub.hold("^GET", after: 100_000, times: nil, on: .cdn)
        let work = Task { try await bench.pull("org/m") }
        try await gate.reached(8)
        try FileSystem.removeTree(folder.path)
        gate.release()
        let result = try await work.value
        // A flush that finds no folder may fail; then the next pull brings it.
        if result.error != nil { try expectWhole(try await bench.pull("org/m")) } else { try expectWhole(result) }
    }

    @Test func aCacheThatWasCopiedGoesOn() async throws {
        _ = try await stopped()
        let safe = try expectTruth().safe
        let contents = try #require(try FileSystem.contents(partial, limit: 1 << 30))
        try FileSystem.remove(partial)
        try FileSystem.replace(partial, with: contents)
        let before = bench.hub.requests("^GET", on: .cdn).count
        try expectWhole(try await bench.pull("org/m"))
        let asked = try PullBench.asked(Array(bench.hub.requests("^GET", on: .cdn).dropFirst(before)))
        #expect(asked.reduce(0) { $0 + Int64($1.count) } == Int64(bytes.count) - safe.count)
    }

    @Test func whatAPartialHasReservedIsNotNeededAgain() async throws {
        _ = try await stopped()
        let reserved = try await bench.puller().plan(ModelReference(parsing: "org/m"), .init())
        #expect(reserved.totals.neededBytes < Int64(bytes.count))
        // The map gone: the pull begins anew, in the space that is given back first.
        try FileSystem.remove(map)
        let again = try await bench.puller().plan(ModelReference(parsing: "org/m"), .init())
        #expect(again.totals.partialBytes == 0)
        #expect(again.totals.neededBytes == reserved.totals.neededBytes)
    }

    @Test func forceFetchesAnewAndReplaces() async throws {
        let first = try await bench.pull("org/m")
        let blob = folder.blob(digest)
        var damaged = bytes
        damaged[5] ^= 1
        try FileSystem.replace(blob, with: damaged)
        // Not seen by a pull that asks only whether it is there.
        #expect(try await bench.pull("org/m").downloadedBytes == 0)
        var options = Puller.Options()
        options.force = true
        let forced = try await bench.pull("org/m", options)
        try expectWhole(forced)
        #expect(forced.downloadedBytes == Int64(bytes.count))
        #expect(forced.path == first.path)
    }

    /// Trap 8: a payload of the shared store belongs to others too.
    @Test func forceReplacesALinkIntoTheSharedStoreAndNeverWritesThroughIt() async throws {
        try await bench.pull("org/m")
        let blob = folder.blob(digest)
        let hash = String(repeating: "d", count: 64)
        let store = bench.layout.sharedStore
        try FileSystem.createDirectories(Path.join(store, "dd"))
        try FileSystem.replace(Path.join(store, ".huggingface-shared-blobs"), with: Array("1\n".utf8))
        let payload = Path.join(store, "dd/\(hash)")
        try FileSystem.rename(blob, to: payload)
        try FileSystem.createSymlink("../../blobs/dd/\(hash)", at: blob)
        let before = try #require(try FileSystem.linkStatus(payload))
        #expect(try await bench.pull("org/m").downloadedBytes == 0)

        var options = Puller.Options()
        options.force = true
        try expectWhole(try await bench.pull("org/m", options))
        #expect(FileSystem.linkText(blob) == nil)
        let after = try #require(try FileSystem.linkStatus(payload))
        #expect(after.inode == before.inode)
        #expect(after.modifiedNanoseconds == before.modifiedNanoseconds)
    }

    @Test func aTruncatedBlobIsFetchedAgain() async throws {
        try await bench.pull("org/m")
        try FileDescriptor(folder.blob(digest), [.write]).truncate(to: 1000)
        try expectWhole(try await bench.pull("org/m"))
    }
}
