#if os(Linux)
import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub pull` on file systems that lack something: links, locks, or the room that was there a moment ago.
@Suite struct PullFaultyDiskTests {
    private let stage: Stage
    private let weights: [UInt8]

    init() throws {
        stage = try Stage()
        let repository = try ModelRepository("org/m", in: stage.root)
        try repository.write("sub/dir/notes.txt", "some words\n")
        weights = try repository.random("w.safetensors", size: 9 << 20, seed: 6)
    }

    private var folder: String { Path.join(stage.cache, "models--org--m") }
    private func digest(_ bytes: [UInt8]) -> String { ContentHasher.digest(of: bytes, like: .sha256("")).hex }

    private func variables(_ lack: String) async throws -> [String: String] {
        ["LD_PRELOAD": try await FaultyDisk.library(in: stage.machine), "FAULTY_DISK": lack]
    }

    private func expectWhole(_ result: ProcessResult) throws {
        #expect(result.status == 0, "\(result.error)")
        let path = String(result.output.dropLast())
        #expect(try FileSystem.contents(Path.join(path, "w.safetensors")) == weights ? true : false)
        #expect(try FileSystem.text(Path.join(path, "sub/dir/notes.txt")) == "some words\n")
        let left = try stage.listing(folder).filter { $0.hasSuffix(".incomplete") || $0.hasSuffix(".tmp") }
        #expect(left == [])
    }

    private func asked(since index: Int) throws -> [Range<Int64>] {
        try stage.hub.requests.dropFirst(index).filter { $0.listener == .cdn }.map { request in
            let found = try #require(request.range?.wholeMatch(of: /bytes=(\d+)-(\d+)/))
            return try #require(Int64(found.1))..<(try #require(Int64(found.2)) + 1)
        }
    }

    /// Trap 47: the files are in the snapshot, as with Python, and count as cached from then on.
    @Test func withoutLinksTheFilesLieInTheSnapshot() async throws {
        let variables = try await variables("symlink")
        try expectWhole(try await stage.run("pull", "-q", "org/m", with: variables))
        for name in try stage.listing(Path.join(folder, "snapshots")) {
            let kind = try FileSystem.linkStatus(Path.join(folder, "snapshots/\(name)"))?.kind
            #expect(kind == .file || kind == .directory, "\(name)")
        }
        #expect(try FileSystem.entries(Path.join(folder, "blobs")) == [])
        let before = stage.hub.requests("/resolve").count
        try expectWhole(try await stage.run("pull", "-q", "org/m", with: variables))
        #expect(stage.hub.requests("/resolve").count == before)
        let listed = try await stage.run("ls", "--json", with: variables).document().objects("models")
        #expect(listed.first?["complete"]?.bool == true)
    }

    /// What can be done is done, and what could not be is said.
    @Test func whereFilesCannotBeFlushedThatIsSaid() async throws {
        let result = try await stage.run("pull", "-q", "org/m", with: try await variables("fsync"))
        try expectWhole(result)
        let told = result.error.split(separator: "\n").filter { $0.contains("cannot flush files") }
        #expect(told.count == 1, "\(result.error)")
        #expect(try await stage.run("verify", "org/m").status == 0)
    }

    @Test func whereModesCannotBeChangedTheTrashIsMadeAllTheSame() async throws {
        let variables = try await variables("chmod")
        try expectWhole(try await stage.run("pull", "-q", "org/m", with: variables))
        for mode: UInt32 in [0o755, 0o700, 0o2770] {
            try FileSystem.setMode(stage.cache, mode)
            let result = try await stage.run("rm", "org/m", "--trash", "--yes", with: variables)
            #expect(result.status == 0, "\(mode): \(result.error)")
            let made = try #require(try FileSystem.status(stage.cache + "-trash")?.mode)
            #expect(made & ~mode == 0, "others may see it")
            #expect(try await stage.run("trash", "restore", "org/m", with: variables).status == 0)
            try expectWhole(try await stage.run("path", "org/m"))
        }
    }

    /// There are no locks, or each is granted to everybody, which is the same.
    static let lockless = ["flock", "granted"]

    /// Trap 25: locks are unavailable and not needed: digests ensure correctness.
    @Test(arguments: lockless) func withoutLocksAPullEndsWell(disk: String) async throws {
        let variables = try await variables(disk)
        try expectWhole(try await stage.run("pull", "-q", "org/m", with: variables))
        #expect(try await stage.run("gc", "--dry-run", "--orphans", with: variables).status == 0)
    }

    @Test(arguments: lockless) func withoutLocksTwoPullsAtOnceEndWell(disk: String) async throws {
        let variables = try await variables(disk)
        let gate = stage.hub.hold("^GET", after: 100_000, times: nil, on: .cdn)
        let one = try stage.start("pull", "-q", "org/m", with: variables)
        try await gate.reached()
        let two = try stage.start("pull", "-q", "org/m", with: variables)
        try await stage.hub.waitForRequest(matching: "^GET /api/models/org/m$", count: 2)
        gate.release()
        for result in [try await one.wait(), try await two.wait()] { try expectWhole(result) }
    }

    /// Without a lock two processes write into one partial. The one that comes last must not change what the other has
    /// proven and given a blob's name, should its own bytes be wrong.
    @Test(arguments: lockless) func withoutLocksAProvenBlobStaysAsItIs(disk: String) async throws {
        let repository = try ModelRepository("org/m", in: stage.root)
        let large = try repository.random("large.safetensors", size: 24 << 20, seed: 7)
        let (name, digest) = ("^GET .*large.safetensors", digest(large))
        let variables = try await variables(disk)
        // All but one range comes, so that a map says what is there.
        let held = stage.hub.hold(name, after: 100_000, on: .cdn)
        let first = try stage.start("pull", "-q", "org/m", with: variables)
        try await held.reached()
        try await eventually("a map") {
            (try? FileSystem.entries(Path.join(folder, "blobs")))??.contains {
                $0.hasPrefix(digest) && $0.hasSuffix(".hub.map.incomplete")
            } == true
        }
        // The second opens the same partial, and waits at the Hub until the first has finished.
        let resolving = Gate()
        stage.hub.fail(name, .holdHead(resolving), on: .hub)
        let second = try stage.start("pull", "-q", "org/m", with: variables)
        try await resolving.reached()
        held.release()
        #expect(try await first.wait().status == 0)
        let blob = Path.join(folder, "blobs/\(digest)")
        #expect(try ContentHasher.digest(ofFile: blob, like: .sha256("")).hex == digest)
        // Each of its ranges comes with a wrong byte; what it asks for then is held, so that it can be looked at.
        let asked = stage.hub.requests.count
        stage.hub.fail(name, .corrupt(at: 10), times: nil, on: .cdn)
        resolving.release()
        try await stage.hub.waitForLog("the second fetch of the beginning") { log in
            let ranges = log.dropFirst(asked).filter { $0.listener == .cdn }.compactMap(\.range)
            return ranges.count { $0.hasPrefix("bytes=0-") } > 1 || ranges.count > 8
        }
        second.killHard()
        _ = try await second.wait()
        let found = try ContentHasher.digest(ofFile: blob, like: .sha256("")).hex
        #expect(found == digest)
    }

    /// Whatever the step: Python finds `snapshots/` and what each ref names, and the next pull leaves nothing of this one.
    @Test func aKillAtAnyStepLeavesACacheThatIsSound() async throws {
        try ModelRepository("org/tiny", in: stage.root).write("config.json", "{}\n")
        let (home, tiny) = (stage.machine("hf"), Path.join(stage.cache, "models--org--tiny"))
        var steps = 0
        while true {
            steps += 1
            try FileSystem.removeTree(home)
            let result = try await stage.run("pull", "-q", "org/tiny", with: try await variables("kill:\(steps)"))
            guard result.wasKilled else {
                #expect(result.status == 0, "\(result.error)")
                break
            }
            if FileSystem.exists(tiny) {
                #expect(FileSystem.exists(Path.join(tiny, "snapshots")), "step \(steps)")
            }
            if let commit = try FileSystem.text(Path.join(tiny, "refs/main")) {
                #expect(FileSystem.exists(Path.join(tiny, "snapshots/\(commit)")), "step \(steps)")
            }
            let again = try await stage.run("pull", "-q", "org/tiny")
            #expect(again.status == 0, "step \(steps): \(again.error)")
            #expect(try stage.listing(tiny).filter { $0.hasSuffix(".incomplete") } == [], "step \(steps)")
        }
        #expect(steps > 12)
    }

    /// Space could not be reserved and runs out on the way: exit 6 and not a byte under a blob's name. What was on
    /// stable storage by then is not fetched again, though the disk had no room for a last word about it.
    @Test func aDiskThatIsFullInTheMiddleKeepsWhatWasSafe() async throws {
        let repository = try ModelRepository("org/m", in: stage.root)
        let large = try repository.random("large.safetensors", size: 64 << 20, seed: 7)
        let limit: Int64 = 60 << 20
        let failed = try await stage.run("pull", "org/m", with: try await variables("full:\(limit)"))
        #expect(failed.status == 6, "\(failed.error)")
        #expect(failed.error.contains("No space left on device"))
        #expect(!FileSystem.exists(Path.join(folder, "blobs/\(digest(large))")))
        #expect(try FileSystem.entries(Path.join(folder, "refs")) == nil)
        let before = stage.hub.requests.count
        let again = try await stage.run("pull", "-q", "org/m")
        try expectWhole(again)
        let place = Path.join(String(again.output.dropLast()), "large.safetensors")
        #expect(try ContentHasher.digest(ofFile: place, like: .sha256("")).hex == digest(large))
        // Unflushed is at most 28 MiB, of everything.
        let refetched = try asked(since: before).reduce(0) { $0 + Int64($1.count) }
        let missing = Int64(large.count + weights.count) - limit
        #expect(refetched <= missing + 28 << 20, "\(refetched)")
        withKnownIssue("the last map needs room that a full disk does not have", isIntermittent: true) {
            #expect(refetched <= missing + 1 << 20, "\(refetched)")
        }
    }
}
#endif
