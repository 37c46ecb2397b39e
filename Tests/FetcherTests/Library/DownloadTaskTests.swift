import HubCore
import HubServer
import Support
import Testing

@testable import Fetcher

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Who shares a download, who ends it, and what it tells.
@Suite struct DownloadTaskTests {
    private let place = try! ManagerPlace()
    private let tiny = ManagerPlace.tiny
    /// Holds the weights after so many of their bytes.
    private static let held: Int64 = 30_000

    private func holdWeights() -> Gate { place.hub.hold("^GET", after: Self.held, times: nil, on: .cdn) }

    /// The one download of a manager, once so many wait for it.
    private func task(_ manager: ModelManager, waiters: Int) async throws -> DownloadTask {
        try await eventually("\(waiters) who wait") { manager.downloads.active.contains { $0.waiters == waiters } }
        return try #require(manager.downloads.active.first)
    }

    /// Waits until everything that the gate lets through is here.
    private func heldBytes(_ task: DownloadTask) async throws {
        let small: Int64 = 26
        for await progress in task.updates where progress.bytesDownloaded == small + Self.held { return }
        Issue.record("the download ended before the gate")
    }

    private func expectWeights(_ url: URL) throws {
        let weights = try FileSystem.contents(Path.join(place.served("org/tiny"), "model.safetensors"))
        try expectContent(Path.join(url.path, "model.safetensors"), try #require(weights))
    }

    // MARK: Sharing

    @Test func callersOfOneModelShareOneTransfer() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let tiny = tiny
        let heard = Monitor<[String]>([])
        let one = Task { try await manager.download(tiny) { _ in heard.update { $0.append("one") } } }
        try await gate.reached()
        let two = Task { try await manager.download(tiny) { _ in heard.update { $0.append("two") } } }
        _ = try await task(manager, waiters: 2)
        #expect(manager.downloads.active.count == 1)
        gate.release()
        let urls = [try await one.value, try await two.value]
        #expect(urls[0] == urls[1])
        try expectWeights(urls[0])
        #expect(try place.ranges() == [0..<50_000])
        #expect(Set(heard.update { $0 }) == ["one", "two"])
        #expect(manager.downloads.active.isEmpty)
    }

    @Test func twoNamesOfOneCommitShareOneTransferAndAreBothKnownAfterwards() async throws {
        try ModelRepository.tiny("org/tiny@v1", in: place.served, weights: 50_000)
        let gate = holdWeights()
        let manager = place.manager
        let (tiny, tagged) = (tiny, ModelIdentifier.huggingFace("org/tiny", revision: "v1"))
        let one = Task { try await manager.download(tiny) }
        try await gate.reached()
        let two = Task { try await manager.download(tagged) }
        let shared = try await task(manager, waiters: 2)
        #expect(manager.downloads.active.count == 1)
        gate.release()
        #expect(try await one.value == two.value)
        #expect(try place.ranges() == [0..<50_000])
        for name in ["main", "v1"] { #expect(try place.folder().commit(ofRef: name) == shared.commit) }
        #expect(try await place.offline.isCached(tagged))
    }

    @Test func otherFilesOfTheModelAreAnotherDownload() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let tiny = tiny
        let all = Task { try await manager.download(tiny) }
        try await gate.reached()
        try await manager.download(tiny, patterns: ["*.json"])
        #expect(manager.downloads.active.count == 1)
        gate.release()
        try expectWeights(try await all.value)
    }

    @Test func ofTwoWhoWaitOneMayLeave() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let tiny = tiny
        let one = Task { try await manager.download(tiny) }
        let two = Task { try await manager.download(tiny) }
        _ = try await task(manager, waiters: 2)
        try await gate.reached()
        one.cancel()
        await #expect(throws: CancellationError.self) { try await one.value }
        #expect(manager.downloads.active.map(\.waiters) == [1])
        gate.release()
        try expectWeights(try await two.value)
        #expect(try place.ranges() == [0..<50_000])
    }

    @Test func theLastWhoLeavesEndsTheWorkAndWhatCameIsKept() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let tiny = tiny
        let one = Task { try await manager.download(tiny) }
        let two = Task { try await manager.download(tiny) }
        let shared = try await task(manager, waiters: 2)
        try await heldBytes(shared)
        one.cancel()
        two.cancel()
        await #expect(throws: CancellationError.self) { try await one.value }
        await #expect(throws: CancellationError.self) { try await two.value }
        #expect(shared.state == .cancelled)
        #expect(manager.downloads.active.isEmpty)
        #expect(place.safeBytes() == Self.held)
        place.hub.clearFaults()
        gate.release()
        try expectWeights(try await manager.download(tiny))
        #expect(try place.ranges() == [0..<50_000, Self.held..<50_000])
    }

    @Test func aTaskThatWasAskedForGoesOnWithoutAnybody() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let tiny = tiny
        let waiting = Task { try await manager.download(tiny) }
        try await gate.reached()
        _ = try await manager.downloadTask(for: tiny)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(manager.downloads.active.map(\.waiters) == [0])
        let found = try await manager.downloadTask(for: tiny)
        #expect(found === manager.downloads.active.first)
        gate.release()
        try expectWeights(try await found.value())
        #expect(try place.ranges() == [0..<50_000])
    }

    @Test func whoWaitsForATaskMayStopWaiting() async throws {
        let gate = holdWeights()
        let task = try await place.manager.downloadTask(for: tiny)
        let waiting = Task { try await task.value() }
        try await gate.reached()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(task.state == .downloading)
        gate.release()
        try expectWeights(try await task.value())
    }

    // MARK: Cancelling

    @Test func cancellingATaskEndsItForEverybodyAndTheNextGoesOn() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let tiny = tiny
        let task = try await manager.downloadTask(for: tiny)
        let waiting = Task { try await manager.download(tiny) }
        _ = try await self.task(manager, waiters: 1)
        try await heldBytes(task)
        task.cancel()
        // Not the one that is about to end.
        let next = try await manager.downloadTask(for: tiny)
        #expect(next !== task)
        await #expect(throws: CancellationError.self) { try await task.value() }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(task.state == .cancelled)
        place.hub.clearFaults()
        gate.release()
        try expectWeights(try await next.value())
    }

    @Test func cancellingByNameReachesTheWork() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let tiny = tiny
        let waiting = Task { try await manager.download(tiny) }
        try await gate.reached()
        #expect(try await manager.cancelDownload(.huggingFace("org/tiny", revision: "refs/pr/1")) == false)
        #expect(try await manager.cancelDownload(.huggingFace("org/other")) == false)
        #expect(try await manager.cancelDownload(tiny))
        #expect(manager.downloads.active.isEmpty)
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await manager.cancelDownload(tiny) == false)
        // The locks are free.
        try await manager.delete(tiny)
        gate.release()
    }

    @Test func cancellingReachesWhoStillAsksForTheCommit() async throws {
        let gate = Gate()
        place.hub.fail("^GET /api/models/org/tiny$", .holdHead(gate), on: .hub)
        let manager = place.manager
        let tiny = tiny
        let waiting = Task { try await manager.download(tiny) }
        try await gate.reached()
        #expect(manager.downloads.active.isEmpty)
        #expect(try await manager.cancelDownload(tiny))
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.release()
        #expect(place.contentRequests.isEmpty)
    }

    @Test func whoAsksForTheCommitMayLeave() async throws {
        let gate = Gate()
        place.hub.fail("^GET /api/models/org/tiny$", .holdHead(gate), on: .hub)
        let manager = place.manager
        let tiny = tiny
        let waiting = Task { try await manager.downloadTask(for: tiny) }
        try await gate.reached()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.release()
        #expect(manager.downloads.active.isEmpty)
        #expect(place.contentRequests.isEmpty)
    }

    @Test func whoLeavesWhileTheFilesAreLookedUpEndsThat() async throws {
        let gate = Gate()
        place.hub.fail("/tree/", .holdHead(gate), on: .hub)
        let manager = place.manager
        let tiny = tiny
        let waiting = Task { try await manager.downloadTask(for: tiny) }
        try await gate.reached()
        let task = try #require(manager.downloads.active.first)
        #expect(task.state == .pending)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(task.state == .cancelled)
        gate.release()
        #expect(place.contentRequests.isEmpty)
    }

    // MARK: Pausing

    @Test func aPauseEndsTheRequestsAndResumingGoesOnWhereTheyWere() async throws {
        let gate = holdWeights()
        let task = try await place.manager.downloadTask(for: tiny)
        try await heldBytes(task)
        await task.pause()
        #expect(task.state == .paused)
        #expect(!task.state.isActive && !task.state.isTerminal)
        try await eventually("what came is safe") { place.safeBytes() == Self.held }
        let before = place.hub.requests.count
        place.hub.clearFaults()
        gate.release()
        task.connections = 2
        task.bytesPerSecond = 1_000_000
        #expect((task.connections, task.bytesPerSecond) == (2, 1_000_000))
        #expect(task.state == .paused)
        #expect(place.hub.requests.count == before)
        task.resume()
        try expectWeights(try await task.value())
        #expect(try place.ranges() == [0..<50_000, Self.held..<50_000])
    }

    @Test func aPausedTaskCanBeCancelled() async throws {
        let gate = holdWeights()
        let manager = place.manager
        let task = try await manager.downloadTask(for: tiny)
        try await heldBytes(task)
        await task.pause()
        #expect(try await manager.cancelDownload(tiny))
        #expect(task.state == .cancelled)
        gate.release()
    }

    @Test func aTaskThatIsPausedBeforeItBeginsAsksForNothing() async throws {
        let gate = Gate()
        place.hub.fail("/tree/", .holdHead(gate), on: .hub)
        let manager = place.manager
        let tiny = tiny
        let asking = Task { try await manager.downloadTask(for: tiny) }
        try await gate.reached()
        let task = try #require(manager.downloads.active.first)
        await task.pause()
        #expect(try await asking.value === task)
        gate.release()
        // It says how it stands once it would begin.
        for await _ in task.updates { break }
        #expect(task.state == .paused)
        #expect(place.contentRequests.isEmpty)
        task.resume()
        try expectWeights(try await task.value())
    }

    @Test func settingsAreAtLeastOne() async throws {
        let task = try await place.manager.downloadTask(for: tiny)
        task.connections = -1
        task.bytesPerSecond = 0
        #expect((task.connections, task.bytesPerSecond) == (1, 1))
        (task.connections, task.bytesPerSecond) = (nil, nil)
        try expectWeights(try await task.value())
    }

    // MARK: Progress

    @Test func whoeverListensHearsTheEndAndStopsForThemselvesAlone() async throws {
        let gate = holdWeights()
        let task = try await place.manager.downloadTask(for: tiny)
        try await heldBytes(task)
        let progress = Task {
            var last: DownloadProgress?
            for await now in task.updates { last = now }
            return last
        }
        let states = Task {
            var all: [DownloadState] = []
            for await now in task.states { all.append(now) }
            return all
        }
        for await _ in task.updates { break }
        let given = Task { for await _ in task.updates {} }
        given.cancel()
        await given.value
        #expect(task.state == .downloading)
        gate.release()
        let url = try await task.value()
        let last = try #require(await progress.value)
        #expect(last.bytesDownloaded == 50_026 && last.totalBytes == 50_026 && last.fractionCompleted == 1)
        #expect(last.filesCompleted == 4 && last.totalFiles == 4 && last.percentComplete == 100)
        #expect(task.progress == last)
        #expect(await states.value.last == .completed(url))
        // A late subscriber gets the last value.
        var late: [DownloadState] = []
        for await now in task.states { late.append(now) }
        #expect(late == [.completed(url)])
        for await now in task.updates { #expect(now == last) }
    }

    @Test func theTaskOfAModelThatIsHereIsCompletedAtOnce() async throws {
        let manager = place.manager
        let url = try await manager.download(tiny)
        let before = place.contentRequests.count
        let task = try await manager.downloadTask(for: tiny)
        #expect(task.state == .completed(url))
        #expect(task.state.isTerminal)
        #expect(try await task.value() == url)
        #expect(task.progress?.percentComplete == 100)
        #expect(place.contentRequests.count == before)
        // Nothing of this does anything any more.
        await task.pause()
        task.resume()
        task.cancel()
        #expect(task.state == .completed(url))
        place.hub.stop()
        let exact = try await manager.downloadTask(
            for: .huggingFace("org/tiny", revision: task.commit.hash))
        #expect(exact.state == .completed(url), "a commit needs no network")
        #expect(try await place.offline.downloadTask(for: tiny).state == .completed(url))
    }

    @Test func aDownloadThatFailsSaysSoToEverybody() async throws {
        let gate = Gate()
        place.hub.fail("/tree/", .holdHead(gate), on: .hub)
        place.hub.fail(
            "model.safetensors", .status(404, headers: ["X-Error-Code": "EntryNotFound"]), times: nil)
        let manager = place.manager
        let tiny = tiny
        let one = Task { try await manager.download(tiny) }
        let two = Task { try await manager.download(tiny) }
        let task = try await task(manager, waiters: 2)
        try await gate.reached()
        gate.release()
        let error = try #require(await caught { try await task.value() })
        #expect(error.code == .fileNotFound && error.context.path == "model.safetensors")
        #expect(task.state == .failed(error) && task.state.isTerminal)
        for waiting in [one, two] { #expect(await errorCode { try await waiting.value } == .fileNotFound) }
        #expect(manager.downloads.active.isEmpty)
        place.hub.clearFaults()
        try expectWeights(try await manager.download(tiny))
    }

    @Test func aModelThatIsNotThereIsSaidSo() async throws {
        let manager = place.manager
        let none = ModelIdentifier.huggingFace("org/none")
        #expect(await errorCode { try await manager.downloadTask(for: none) } == .repositoryNotFound)
        #expect(await errorCode { try await manager.downloadTask(for: .local("/tmp")) } == .invalidInput)
        #expect(await errorCode { try await manager.download(tiny, patterns: ["*.gguf"]) } == .nothingMatches)
        #expect(manager.downloads.active.isEmpty)
    }

    @Test func aDownloadThatTheDiskHasNoRoomForDoesNotBegin() async throws {
        let huge = try ModelRepository("org/huge", in: place.served)
        try huge.sparse("model.bin", size: 1 << 20)
        place.hub.fail(
            "/tree/",
            .status(
                200,
                body: #"[{"type":"file","path":"model.bin","size":1125899906842624,"oid":"\#(Commit.of("a"))"}]"#))
        let manager = place.manager
        #expect(await errorCode { try await manager.downloadTask(for: .huggingFace("org/huge")) } == .diskFull)
        #expect(manager.downloads.active.isEmpty)
        #expect(!FileSystem.exists(place.folder("org/huge").path))
    }

    // MARK: Deleting

    @Test func whatIsBeingDownloadedIsNotDeleted() async throws {
        let gate = holdWeights()
        let manager = place.manager
        try await manager.download(.huggingFace("org/tiny", revision: "refs/pr/1"))
        let task = try await manager.downloadTask(for: tiny)
        try await heldBytes(task)
        await task.pause()
        for body in [
            { try await manager.delete(tiny) },
            { try await manager.delete(.huggingFace("org/tiny", revision: "refs/pr/1")) },
            { try await manager.clearCache() },
        ] as [() async throws -> ByteCount] {
            let error = await caught(body)
            #expect(error?.code == .ioError && error?.message.contains("being downloaded") == true)
        }
        // Another manager, as another process has one, finds the locks.
        #expect(await errorCode { try await place.manager.delete(tiny) } == .ioError)
        #expect(await errorCode { try await place.manager.clearCache() } == .ioError)
        place.hub.clearFaults()
        gate.release()
        task.resume()
        try expectWeights(try await task.value())
        try await manager.delete(tiny)
        #expect(try await manager.cachedModels().isEmpty)
    }
}
