import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub pull` as a process that is killed, interrupted, and not alone.
@Suite struct PullProcessTests {
    private let served = try! TemporaryFolder("served")
    private let box = try! TemporaryFolder("box")
    private let hub: LoopbackHub
    private static let size: Int64 = 64 << 20

    init() throws { hub = try LoopbackHub(served) }

    private var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": box("home"), "HF_HOME": box("hf"), "HUB_HOME": box("state"),
            "HF_ENDPOINT": hub.endpoint, "LC_ALL": "C.UTF-8",
        ]
    }
    private var cache: String { box("hf/hub") }
    private var folder: String { box("hf/hub/models--org--big") }

    private func start(_ words: String...) throws -> RunningProcess {
        try RunningProcess(try BuiltProduct.path(), words, environment: environment)
    }

    /// One large file in which no two places are alike, and a small one. The large file's digest.
    private func big() throws -> String {
        let repository = try ModelRepository("org/big", in: served)
        try repository.write("config.json", "{}\n")
        let block = ModelRepository.randomBytes(1 << 16, seed: 21)
        var patches: [(offset: Int64, bytes: [UInt8])] = []
        for index in 0..<Self.size >> 16 {
            var bytes = block
            withUnsafeBytes(of: index) { bytes.replaceSubrange(0..<8, with: $0) }
            patches.append((index << 16, bytes))
        }
        try repository.sparse("w.safetensors", size: Self.size, patches: patches)
        return try ContentHasher.digest(ofFile: Path.join(repository.path, "w.safetensors"), like: .sha256("")).hex
    }

    /// What the map beside the partial calls safe.
    private func claimed(_ digest: String) throws -> [Range<Int64>] {
        let path = Path.join(folder, "blobs/\(digest).hub.map.incomplete")
        guard let bytes = try FileSystem.contents(path) else { return [] }
        return try (try #require(try JSON.parse(bytes)["safe"]?.array)).map { pair in
            let bounds = try #require(pair.array)
            return try #require(bounds[0].int)..<(try #require(bounds[1].int))
        }
    }

    /// Every range called safe holds what the source has there.
    private func expectTruth(_ digest: String) throws -> [Range<Int64>] {
        let safe = try claimed(digest)
        guard !safe.isEmpty else { return [] }
        let source = try FileDescriptor(served("org/big/w.safetensors"))
        let partial = try FileDescriptor(Path.join(folder, "blobs/\(digest).hub.incomplete"))
        for range in safe {
            var (one, two) = ([UInt8](repeating: 0, count: range.count), [UInt8](repeating: 1, count: range.count))
            _ = try one.withUnsafeMutableBytes { try source.read(into: $0, at: range.lowerBound) }
            _ = try two.withUnsafeMutableBytes { try partial.read(into: $0, at: range.lowerBound) }
            #expect(one == two ? true : false, "\(range) is called safe and is not")
        }
        return safe
    }

    /// Bytes of the partial that have come, safe or not; whatever has not is zero. Counted by blocks of 64 KiB.
    private func written(_ digest: String) throws -> Int64 {
        let partial = try FileDescriptor(Path.join(folder, "blobs/\(digest).hub.incomplete"))
        var head = [UInt8](repeating: 0, count: 64)
        return try stride(from: 0, to: Self.size, by: 1 << 16).reduce(0) { sum, offset in
            _ = try head.withUnsafeMutableBytes { try partial.read(into: $0, at: offset) }
            return head.allSatisfy { $0 == 0 } ? sum : sum + (1 << 16)
        }
    }

    private func asked(since index: Int = 0) throws -> [Range<Int64>] {
        try hub.requests.dropFirst(index).filter { $0.listener == .cdn }.map { request in
            let found = try #require(request.range?.wholeMatch(of: /bytes=(\d+)-(\d+)/))
            return try #require(Int64(found.1))..<(try #require(Int64(found.2)) + 1)
        }
    }

    /// Nothing in the cache makes Python's scan warn: no stray entry, no broken link, no ref without its snapshot.
    private func expectCleanCache() throws {
        let known: Set = [".locks", "CACHEDIR.TAG", "models--org--big"]
        #expect(Set(try FileSystem.entries(cache) ?? []).isSubset(of: known))
        for commit in try FileSystem.entries(Path.join(folder, "snapshots")) ?? [] {
            #expect(Commit(commit) != nil)
            let snapshot = Path.join(folder, "snapshots/\(commit)")
            for name in try FileSystem.entries(snapshot) ?? [] {
                #expect(FileSystem.exists(Path.join(snapshot, name)))
            }
        }
        for ref in try FileSystem.entries(Path.join(folder, "refs")) ?? [] {
            let commit = try #require(try FileSystem.text(Path.join(folder, "refs/\(ref)")))
            #expect(FileSystem.exists(Path.join(folder, "snapshots/\(commit)")))
        }
        for blob in try FileSystem.entries(Path.join(folder, "blobs")) ?? [] {
            #expect(ContentDigest(etag: blob) != nil || blob.hasSuffix(".incomplete"))
        }
    }

    private func expectWhole(_ digest: String, _ result: ProcessResult) throws {
        #expect(result.status == 0, "\(result.error)")
        let place = Path.join(String(result.output.dropLast()), "w.safetensors")
        #expect(try ContentHasher.digest(ofFile: place, like: .sha256("")).hex == digest)
        #expect(FileSystem.linkText(place) == "../../blobs/\(digest)")
        let blobs = try FileSystem.entries(Path.join(folder, "blobs")) ?? []
        #expect(blobs.count == 2, "\(blobs)")
        try expectCleanCache()
    }

    /// Invariant 2: what the map calls safe is not fetched again, and little else is.
    @Test func aKillLosesOnlyWhatWasInFlight() async throws {
        let digest = try big()
        // The first ranges come whole, the later ones stop.
        hub.fail("^GET", .delay(seconds: 0), times: 9, on: .cdn)
        let gate = hub.hold("^GET", after: 400_000, times: nil, on: .cdn)
        let first = try start("pull", "-q", "org/big")
        try await gate.reached()
        try await eventually("a map") { try !claimed(digest).isEmpty }
        first.killHard()
        #expect(try await first.wait().wasKilled)
        let safe = try expectTruth(digest)
        let written = try written(digest)
        try expectCleanCache()
        #expect(try FileSystem.entries(Path.join(folder, "refs")) == nil)
        gate.release()
        hub.clearFaults()

        let before = hub.requests.count
        let second = try await start("pull", "-q", "org/big").wait()
        try expectWhole(digest, second)
        let ranges = try asked(since: before)
        for range in ranges {
            #expect(!safe.contains { $0.overlaps(range) }, "\(range) was safe and was asked for again")
        }
        let kept = safe.reduce(0) { $0 + Int64($1.count) }
        #expect(ranges.reduce(0) { $0 + Int64($1.count) } == Self.size - kept)
        #expect(written - kept <= 32 << 20)
    }

    @Test func tenKillsEndInARightFile() async throws {
        let digest = try big()
        var random = SeededRandom(state: 5)
        for _ in 0..<10 where !FileSystem.exists(Path.join(folder, "blobs/\(digest)")) {
            hub.fail("^GET", .delay(seconds: 0), times: Int.random(in: 0...4, using: &random), on: .cdn)
            let gate = hub.hold(
                "^GET", after: Int64.random(in: 0...1_500_000, using: &random), times: nil, on: .cdn)
            // It may have so much by now that it asks only once.
            let counted = hub.requests.count
            let process = try start("pull", "-q", "org/big")
            try await hub.waitForLog("a request") { log in
                log.dropFirst(counted).contains { $0.listener == .cdn }
            }
            process.killHard()
            _ = try await process.wait()
            _ = try expectTruth(digest)
            try expectCleanCache()
            gate.release()
            hub.clearFaults()
        }
        try expectWhole(digest, try await start("pull", "-q", "org/big").wait())
    }

    @Test func anInterruptionKeepsWhatCameSaysSoAndGoesOn() async throws {
        let digest = try big()
        let gate = hub.hold("^GET", after: 1_000_000, times: nil, on: .cdn)
        let first = try start("pull", "org/big")
        try await gate.reached(8)
        let partial = Path.join(folder, "blobs/\(digest).hub.incomplete")
        try await eventually("bytes in the partial") {
            guard FileSystem.exists(partial) else { return false }
            var head = [UInt8](repeating: 0, count: 32)
            let file = try FileDescriptor(partial)
            _ = try head.withUnsafeMutableBytes { try file.read(into: $0, at: 16) }
            return head.contains { $0 != 0 }
        }
        try await eventually("the small file") {
            try (FileSystem.entries(Path.join(folder, "snapshots")) ?? []).contains {
                FileSystem.exists(Path.join(folder, "snapshots/\($0)/config.json"))
            }
        }
        first.interrupt()
        let result = try await first.wait()
        #expect(result.status == 130)
        #expect(!result.wasKilled)
        #expect(result.output.isEmpty)
        #expect(result.error.range(of: "what was received of the others is kept") != nil)
        #expect(result.error.range(of: "the same command continues") != nil)
        let safe = try expectTruth(digest)
        #expect(!safe.isEmpty)
        try expectCleanCache()
        gate.release()
        hub.clearFaults()

        let before = hub.requests.count
        try expectWhole(digest, try await start("pull", "-q", "org/big").wait())
        let ranges = try asked(since: before)
        #expect(!ranges.contains { range in safe.contains { $0.overlaps(range) } })
        // The small file was complete, and stays so.
        #expect(hub.requests.dropFirst(before).allSatisfy { !$0.path.hasSuffix("config.json") })
    }

    @Test func twoAtOnceFetchNoByteTwice() async throws {
        let digest = try big()
        let gate = hub.hold("^GET", after: 100_000, times: nil, on: .cdn)
        let processes = [try start("pull", "org/big"), try start("pull", "org/big")]
        try await gate.reached()
        // One of them waits; the other never reports waiting.
        #if os(Linux)
        let told = Monitor(false)
        for (process, other) in [(processes[0], processes[1]), (processes[1], processes[0])] {
            Task {
                try await process.wait(forText: "process \(other.pid) is fetching w.safetensors; waiting for it")
                told.update { $0 = true }
            }
        }
        _ = try await told.value("one that waits for the other") { $0 ? true : nil }
        #else
        try await RunningProcess.waitForOne(of: processes, toSay: "is fetching w.safetensors; waiting for it")
        #endif
        gate.release()
        hub.clearFaults()
        for process in processes { #expect(try await process.wait().status == 0) }
        #expect(try asked().reduce(0) { $0 + Int64($1.count) } == Self.size)
        #expect(hub.requests("resolve-cache/.*config.json").count == 1)
        try expectWhole(digest, try await start("pull", "-q", "org/big").wait())
    }

    /// Each file under way holds two descriptors, and a repository may have any number of files.
    @Test func aLowLimitOfOpenFilesIsEnoughForManyFiles() async throws {
        let repository = try ModelRepository("org/many", in: served)
        for number in 0..<120 { try repository.write("\(number).txt", "file \(number)\n") }
        let process = try RunningProcess(
            "/bin/sh",
            ["-c", "ulimit -n 90; exec \(ShellQuoting.posix(try BuiltProduct.path())) pull -q org/many"],
            environment: environment)
        let result = try await process.wait()
        #expect(result.status == 0, "\(result.error)")
        #expect(try FileSystem.entries(String(result.output.dropLast()))?.count == 120)
    }
}
