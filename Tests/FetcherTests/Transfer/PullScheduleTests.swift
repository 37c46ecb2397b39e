import HubCore
import HubServer
import Support
import Testing

@testable import Fetcher

/// Who is asked for what, and when: several models over the same connections, slow and silent connections, pauses.
@Suite struct PullScheduleTests {
    private let bench = try! PullBench()

    private func plan(_ reference: String, _ puller: Puller) async throws -> PullPlan {
        try await puller.plan(ModelReference(parsing: reference), .init())
    }

    private func cdn() throws -> [Range<Int64>] { try PullBench.asked(bench.hub.requests("^GET", on: .cdn)) }

    // MARK: Several models

    @Test func modelsOfOneCallShareTheConnections() async throws {
        for name in ["org/a", "org/b", "org/c"] {
            try ModelRepository(name, in: bench.served).noise("w.bin", size: 900_000, seed: UInt64(name.utf8.last!))
        }
        let gate = bench.hub.hold("^GET", after: 0, times: nil, on: .cdn)
        let puller = try bench.puller()
        let plans = [
            try await plan("org/a", puller), try await plan("org/b", puller), try await plan("org/c", puller),
        ]
        var options = Puller.Options()
        options.control = PullControl(connections: 5)
        let work = Task { [options] in await puller.pull(plans, options) { _, _ in } }
        try await gate.reached(5)
        // Whichever files they went to: each connection is taken, and there is no sixth.
        #expect(bench.hub.requests("^GET", on: .cdn).count == 5)
        gate.release()
        for result in await work.value { #expect(result.error == nil) }
    }

    @Test func contentThatTwoModelsOfOneCallShareIsFetchedOnce() async throws {
        for name in ["org/a", "org/b"] {
            try ModelRepository(name, in: bench.served).noise("w.safetensors", size: 900_000, seed: 4)
        }
        let puller = try bench.puller()
        let plans = [try await plan("org/a", puller), try await plan("org/b", puller)]
        let results = await puller.pull(plans, .init()) { _, _ in }
        #expect(results.allSatisfy { $0.error == nil })
        #expect(results.map { $0.files[0].status } == [.downloaded, .linked])
        #expect(try cdn().reduce(0) { $0 + $1.count } == 900_000)
        for result in results {
            try expectContent(bench.place("w.safetensors", result), PullBench.random(900_000, seed: 4))
        }
        let blobs = results.map { $0.plan.folder.blob($0.plan.files[0].file.digest.hex) }
        #expect(try FileSystem.linkStatus(blobs[0])?.inode == FileSystem.linkStatus(blobs[1])?.inode)
    }

    /// What the first could not have, the second tries for itself.
    @Test func aTwinOfWhatFailedIsFetched() async throws {
        for name in ["org/a", "org/b"] {
            try ModelRepository(name, in: bench.served).noise("w.safetensors", size: 900_000, seed: 4)
        }
        bench.hub.fail("org/a/resolve", .status(404, headers: ["X-Error-Code": "EntryNotFound"]), times: nil)
        let puller = try bench.puller()
        let plans = [try await plan("org/a", puller), try await plan("org/b", puller)]
        let results = await puller.pull(plans, .init()) { _, _ in }
        #expect(results[0].error?.code == .fileNotFound)
        #expect(results[1].error == nil)
        try expectContent(bench.place("w.safetensors", results[1]), PullBench.random(900_000, seed: 4))
    }

    @Test func aModelThatCannotBeginDoesNotKeepTheOthersBack() async throws {
        for name in ["org/a", "org/b"] {
            try ModelRepository(name, in: bench.served).write("a.txt", name)
        }
        let puller = try bench.puller()
        let plans = [try await plan("org/a", puller), try await plan("org/b", puller)]
        try FileSystem.createDirectories(bench.layout.root)
        try FileSystem.replace(plans[0].folder.path, with: [1])
        let results = await puller.pull(plans, .init()) { _, _ in }
        #expect(results[0].fault != nil)
        #expect(results[0].files.map(\.status) == [.failed])
        #expect(results[1].error == nil)
        try expectContent(bench.place("a.txt", results[1]), Array("org/b".utf8))
    }

    /// Half of a file stays for those who are done first; a connection with all of its share would be the last, and lose its
    /// rear to the others. One alone takes all.
    @Test(arguments: [8: 500_001, 1: 8_000_000])
    func aConnectionTakesHalfOfItsShareOfTheRest(connections: Int, length: Int) async throws {
        try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 8_000_000)
        let gate = bench.hub.hold("^GET", after: 0, times: nil, on: .cdn)
        var puller = try bench.puller()
        puller.limits.firstRange = 8_000_000
        puller.limits.range = 8_000_000
        let plan = try await plan("org/m", puller)
        var options = Puller.Options()
        options.control = PullControl(connections: connections)
        let work = Task { [puller, options] in try await puller.pull(plan, options) }
        try await gate.reached(connections)
        #expect(try cdn().map(\.count) == Array(repeating: length, count: connections))
        gate.release()
        #expect(try await work.value.error == nil)
        #expect(try cdn().reduce(0) { $0 + $1.count } == 8_000_000)
    }

    // MARK: Slow and silent connections

    /// One connection falls silent for ever while the others go on: its range is asked for again long before it times
    /// out, and the pull ends without it.
    @Test func aSilentRangeIsAskedForOnAnotherConnection() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 2_000_000)
        bench.hub.fail("^GET", .stall(after: 50_000, seconds: 3600), on: .cdn)
        let record = PullBench.Record()
        var puller = try bench.puller(record: record)
        puller.limits.stallShare = 1e-3
        let result = try await puller.pull(try await plan("org/m", puller), .init()) { record.hear($0) }
        #expect(result.error == nil)
        try expectContent(bench.place("w.bin", result), bytes)
        #expect(record.retries.contains { $0.hasPrefix("no data for") })
    }

    /// The last range trickles: an idle connection is given its rear.
    @Test func theRearOfASlowRangeGoesToAnotherConnection() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 1_000_000)
        bench.hub.fail("^GET", .trickle(bytesPerSecond: 4_000), on: .cdn)
        let record = PullBench.Record()
        var puller = try bench.puller(record: record)
        puller.limits.splitShare = 1e-3
        puller.limits.smallestSplit = 1000
        let result = try await puller.pull(try await plan("org/m", puller), .init()) { record.hear($0) }
        #expect(result.error == nil)
        try expectContent(bench.place("w.bin", result), bytes)
        #expect(record.lines.contains { $0.hasSuffix("go to another connection") })
        // Overlap: what was taken from the slow one had been asked of it too.
        #expect(try cdn().reduce(0) { $0 + $1.count } > bytes.count)
        #expect(result.downloadedBytes < Int64(bytes.count + 200_000))
    }

    // MARK: Pause and resume

    @Test func aPauseEndsAllRequestsAndResumingGoesOnWhereTheyWere() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 900_000)
        let gate = bench.hub.hold("^GET", after: 30_000, times: nil, on: .cdn)
        let record = PullBench.Record()
        let puller = try bench.puller(record: record)
        let plan = try await plan("org/m", puller)
        let options = Puller.Options()
        let work = Task { [options] in try await puller.pull(plan, options) { record.hear($0) } }
        // As many as there are ranges.
        try await gate.reached(7)
        try await record.waitForEvent("bytes") {
            if case .progress(let progress) = $0 { progress.completedBytes >= 210_000 } else { false }
        }
        await withCheckedContinuation { continuation in options.control.pause { continuation.resume() } }
        try await record.waitForEvent("the pause") {
            if case .progress(let progress) = $0 { progress.isPaused && progress.active.isEmpty } else { false }
        }
        let folder = try bench.folder("org/m")
        let map = folder.partialMap(plan.files[0].file.digest.hex)
        try await eventually("the map") { (RangeMap.read(map)?.safe.count ?? 0) >= 210_000 }
        let before = try cdn().count
        gate.release()
        options.control.change { $0.connections = 2 }
        #expect(try cdn().count == before)
        options.control.resume()
        let result = try await work.value
        #expect(result.error == nil)
        try expectContent(bench.place("w.bin", result), bytes)
        let again = try cdn()[before...]
        #expect(again.reduce(0) { $0 + $1.count } <= bytes.count - 210_000)
        #expect(again.contains { $0.lowerBound == 30_000 })
        #expect(try PullBench.leftovers(folder).isEmpty)
    }

    @Test func aPausedPullCanBeCancelled() async throws {
        try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 900_000)
        let gate = bench.hub.hold("^GET", after: 30_000, times: nil, on: .cdn)
        let puller = try bench.puller()
        let plan = try await plan("org/m", puller)
        let options = Puller.Options()
        let work = Task { [options] in try await puller.pull(plan, options) }
        try await gate.reached()
        await withCheckedContinuation { continuation in options.control.pause { continuation.resume() } }
        work.cancel()
        #expect(try await work.value.error?.code == .cancelled)
        gate.release()
    }

    @Test func aPullThatBeginsPausedAsksForNothingUntilItIsResumed() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 900_000)
        let record = PullBench.Record()
        let puller = try bench.puller(record: record)
        let plan = try await plan("org/m", puller)
        let options = Puller.Options()
        options.control.pause()
        let work = Task { [options] in try await puller.pull(plan, options) { record.hear($0) } }
        try await record.waitForEvent("the pause") {
            if case .progress(let progress) = $0 { progress.isPaused } else { false }
        }
        #expect(try cdn().isEmpty)
        options.control.resume()
        try expectContent(bench.place("w.bin", try await work.value), bytes)
    }

    /// A limit changes when bytes come, never which.
    /// Small files are complete first.
    @Test func atALimitedRateSmallFilesGoFirst() async throws {
        let repository = try ModelRepository("org/m", in: bench.served)
        for name in ["v.bin", "w.bin", "x.bin"] {
            try repository.noise(name, size: 900_000, seed: UInt64(name.utf8.first!))
        }
        for number in 0..<8 { try repository.noise("\(number).txt", size: 10_000, seed: UInt64(number)) }
        let puller = try bench.puller()
        var options = Puller.Options()
        options.control = PullControl(bytesPerSecond: 3_000_000)
        let record = PullBench.Record()
        let result = try await puller.pull(try await plan("org/m", puller), options) { record.hear($0) }
        #expect(result.error == nil)
        let ends = record.events.compactMap { if case .finished(let file) = $0 { file.path } else { nil } }
        #expect(ends.prefix(8).allSatisfy { $0.hasSuffix(".txt") }, "\(ends)")
    }

    /// A stall is reported with its duration.
    @Test func aServerThatFallsSilentIsTold() async throws {
        try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 200_000)
        let gate = bench.hub.hold("^GET", after: 50_000, times: nil, on: .cdn)
        let record = PullBench.Record()
        let work = Task { try await bench.pull("org/m", record: record) }
        try await record.waitForEvent("silence") {
            if case .progress(let progress) = $0 { progress.silence > 0.4 } else { false }
        }
        gate.release()
        #expect(try await work.value.error == nil)
        guard
            case .progress(let last)? = record.events.last(where: { if case .progress = $0 { true } else { false } }
            )
        else { return }
        #expect(last.silence == 0)
    }

    @Test func aLimitedPullBringsTheSameBytes() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.bin", size: 900_000)
        let puller = try bench.puller()
        var options = Puller.Options()
        options.control = PullControl(connections: 3, bytesPerSecond: 4_000_000)
        let result = try await puller.pull(try await plan("org/m", puller), options)
        #expect(result.error == nil)
        try expectContent(bench.place("w.bin", result), bytes)
        // A tenth of a second's worth comes at once, the rest at the rate; a slow machine takes longer, none less.
        #expect(result.seconds > 0.08)
    }
}
