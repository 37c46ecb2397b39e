import HubCore
import Support
import Testing

@testable import Fetcher

/// Disks that are full, cannot be written, or have no links.
@Suite struct PullDiskTests {
    private let bench = try! PullBench()

    private func repository(_ megabytes: Int = 3) throws -> (weights: [UInt8], text: [UInt8]) {
        let repository = try ModelRepository("org/m", in: bench.served)
        return (
            try repository.noise("w.safetensors", size: megabytes << 20, seed: 4),
            try repository.write("t.txt", "text\n")
        )
    }

    private func withDisk(_ size: String, _ body: (SmallDisk, CacheLayout) async throws -> Void) async throws {
        guard let disk = try await SmallDisk(bench.box, size) else {
            try Test.cancel("this user cannot mount a small file system")
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(disk, CacheLayout(Path.join(disk.path, "cache")))) } catch {
            result = .failure(error)
        }
        try await disk.unmount()
        try result.get()
    }

    @Test func aPlanThatDoesNotFitIsRefusedBeforeTheFirstByte() async throws {
        _ = try repository(12)
        try await withDisk("8m") { _, layout in
            let puller = try bench.puller(layout: layout)
            let plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
            let error = #expect(throws: AIError.self) { try puller.checkSpace([plan]) }
            #expect(error?.code == .diskFull)
            #expect(error?.exitStatus == 6)
            // Nothing that could be deleted would do.
            #expect(error?.message.hasPrefix("the disk is too small: 12.6 MB are needed in ") == true)
            #expect(error?.message.hasSuffix(", and it has 8.4 MB in all") == true)
            #expect(error?.recoverySuggestion == "choose another place with --cache-dir or HF_HOME")
            #expect(try FileSystem.entries(layout.root) == nil)
            #expect(bench.hub.requests("/resolve/").isEmpty)
        }
    }

    @Test func aDiskThatFillsUpFailsTheLargeFileAndKeepsTheSmallOne() async throws {
        let (_, text) = try repository(12)
        try await withDisk("8m") { _, layout in
            // The small one comes first, while there is room.
            let gate = bench.hub.hold("^GET", after: 0, times: nil, on: .cdn)
            let record = PullBench.Record()
            let work = Task { try await bench.pull("org/m", layout: layout, record: record) }
            try await record.waitForEvent("the end of the small file") {
                if case .finished(let file) = $0 { file.path == "t.txt" } else { false }
            }
            gate.release()
            let result = try await work.value
            #expect(result.error?.code == .diskFull)
            #expect(result.files.map(\.status) == [.downloaded, .failed])
            try expectContent(bench.place("t.txt", result), text)
            let folder = result.plan.folder
            // What came is kept for later, and nothing is called complete.
            #expect(!FileSystem.exists(folder.blob(result.plan.files[1].file.digest.hex)))
            #expect(try PullBench.leftovers(folder).contains { $0.hasSuffix(".hub.incomplete") })
            #expect(try FileSystem.entries(folder.refs) == nil)
        }
    }

    @Test func aDiskThatIsFullWithAnUnprovenPartialHasRoomForIt() async throws {
        _ = try repository(6)
        try await withDisk("8m") { _, layout in
            let gate = bench.hub.hold("^GET", after: 100, times: nil, on: .cdn)
            let puller = try bench.puller(layout: layout)
            let plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
            let work = Task { try await puller.pull(plan, .init()) }
            try await gate.reached()
            // As after a kill before the first flush: reserved, and no map.
            work.cancel()
            _ = try await work.value
            gate.release()
            bench.hub.clearFaults()
            try FileSystem.remove(plan.folder.partialMap(plan.files[1].file.digest.hex))
            let again = try await puller.plan(ModelReference(parsing: "org/m"), .init())
            try puller.checkSpace([again])
            #expect(try await puller.pull(again, .init()).error == nil)
        }
    }

    @Test func aCacheThatCannotBeWrittenIsOneClearError() async throws {
        _ = try repository()
        try await withDisk("8m") { disk, layout in
            try FileSystem.createDirectories(layout.root)
            guard try await disk.remount("ro") else { try Test.cancel("the file system cannot be made read-only") }
            let puller = try bench.puller(layout: layout)
            let plan = try await puller.plan(ModelReference(parsing: "org/m"), .init())
            let error = await #expect(throws: AIError.self) { try await puller.pull(plan, .init()) }
            #expect(error?.code == .permissionDenied)
            #expect(error?.context.path?.hasPrefix(disk.path) == true)
            #expect(bench.hub.requests("/resolve/").isEmpty)
        }
    }

    @Test func sizesOfAHostileFileListOverflowNothing() async throws {
        let puller = try bench.puller()
        let files = (0..<4).map { number in
            RepositoryFile(
                path: "\(number).safetensors", size: .max - Int64(number),
                oid: String(repeating: "0", count: 40),
                sha256: String(repeating: String(number), count: 64))
        }
        let commit = try #require(Commit(String(repeating: "a", count: 40)))
        let plan = try PullPlan(
            ModelReference(parsing: "org/m").repository, in: bench.layout,
            tree: RepositoryTree(commit: commit, files: files), ref: "main", choice: .everything, force: false)
        #expect(plan.totalBytes == .max)
        #expect(plan.totals.downloadBytes == .max)
        #expect(plan.totals.neededBytes == .max)
        let error = #expect(throws: AIError.self) { try puller.checkSpace([plan, plan]) }
        #expect(error?.code == .diskFull)
        // Even without that check, the end is an error and no trap.
        let result = try await puller.pull(plan, .init())
        #expect(result.files.count == 4)
        #expect(result.error != nil)
    }

    // MARK: Without links

    /// Trap 47: a snapshot may hold the files themselves.
    @Test func withoutLinksTheFilesLieInTheSnapshot() async throws {
        let (weights, text) = try repository()
        let repository = try ModelRepository("org/m", in: bench.served)
        try repository.write("sub/twin.safetensors", weights)
        var options = Puller.Options()
        options.symlinks = false
        let result = try await bench.pull("org/m", options)
        #expect(result.error == nil)
        for (path, bytes) in [("w.safetensors", weights), ("sub/twin.safetensors", weights), ("t.txt", text)] {
            #expect(try FileSystem.linkStatus(bench.place(path, result))?.kind == .file, "\(path)")
            try expectContent(bench.place(path, result), bytes)
        }
        // As Python leaves it.
        #expect(try FileSystem.entries(result.plan.folder.blobs) == [])
        let count = bench.hub.requests("/resolve/").count
        let again = try await bench.pull("org/m", options)
        #expect(again.files.allSatisfy { $0.status == .cached })
        #expect(bench.hub.requests("/resolve/").count == count)
    }

    /// As Python does: a new blob moves into the snapshot, one that others may link to is copied.
    @Test func withoutLinksABlobThatAnotherRevisionLinksToIsCopied() async throws {
        let (weights, _) = try repository()
        let first = try await bench.pull("org/m")
        let other = try ModelRepository("org/m", in: bench.served, revision: "next")
        try other.write("moved.safetensors", weights)
        var options = Puller.Options()
        options.symlinks = false
        let next = try await bench.pull("org/m@next", options)
        #expect(next.error == nil)
        #expect(try FileSystem.linkStatus(bench.place("moved.safetensors", next))?.kind == .file)
        try expectContent(bench.place("moved.safetensors", next), weights)
        try expectContent(bench.place("w.safetensors", first), weights)
        #expect(bench.hub.requests("moved").isEmpty)
    }
}
