import Fetcher
import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub verify --repair`.
extension VerifyCommandTests {
    @Test func onlyTheDamagedRangesAreFetched() async throws {
        let snapshot = try await pulled()
        let w = try blob("w.safetensors", snapshot)
        let inode = try FileSystem.status(w)?.inode
        try flip(w, at: Self.step + 3)
        let before = stage.hub.requests.count
        let result = try await stage.run("verify", "org/m", "--repair")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.lines[0].contains("repaired, 1 file, 16.8 MB fetched"))
        let ranges = try asked(since: before)
        #expect(ranges.reduce(0) { $0 + Int64($1.count) } == Self.step)
        #expect(ranges.allSatisfy { $0.lowerBound >= Self.step && $0.upperBound <= 2 * Self.step })
        #expect(try FileSystem.status(w)?.inode != inode)
        try await expectSound()
    }

    /// Two revisions need one blob: it is fetched once, and both lines say what became of it.
    @Test func whatRevisionsShareIsRepairedOnce() async throws {
        let snapshot = try await pulled()
        try ModelRepository("org/m", in: stage.root).write("config.json", "{ }\n")
        let newer = try await pulled()
        #expect(newer != snapshot)
        try flip(try blob("w.safetensors", snapshot), at: Self.step + 3)
        let before = stage.hub.requests.count
        let result = try await stage.run("verify", "org/m", "--repair")
        #expect(result.status == 0, "\(result.error)")
        #expect(try asked(since: before).reduce(0) { $0 + Int64($1.count) } == Self.step)
        #expect(result.output.ranges(of: ": repaired, 1 file, ").count == 2)
        let shared = result.lines.filter {
            $0.contains("; repaired with org/m@") && $0.hasSuffix(", which shares it")
        }
        #expect(shared.count == 1, "\(result.output)")
        #expect(try await stage.run("verify", "org/m", "--full").status == 0)
    }

    /// Content from a hostile Hub never replaces the old file.
    @Test func wrongBytesReplaceNothing() async throws {
        let snapshot = try await pulled()
        let w = try blob("w.safetensors", snapshot)
        try flip(w, at: 5)
        let (damaged, inode) = (try digest(w), try FileSystem.status(w)?.inode)
        stage.hub.fail("^GET", .corruptFile(at: 9), times: nil, on: .cdn)
        let result = try await stage.run("verify", "org/m", "--repair", "--json")
        #expect(result.status == 7)
        #expect(try result.errorCode() == "digest_mismatch")
        #expect(try digest(w) == damaged)
        #expect(try FileSystem.status(w)?.inode == inode)
        stage.hub.clearFaults()
        #expect(try await stage.run("verify", "org/m", "--repair").status == 0)
        try await expectSound()
    }

    @Test func aKilledRepairLeavesTheOldFileAndGoesOn() async throws {
        let snapshot = try await pulled()
        let w = try blob("w.safetensors", snapshot)
        try flip(w, at: Self.step)
        let (damaged, inode) = (try digest(w), try FileSystem.status(w)?.inode)
        let gate = stage.hub.hold("^GET", after: 100_000, times: nil, on: .cdn)
        let first = try stage.start("verify", "org/m", "--repair")
        try await gate.reached()
        first.killHard()
        _ = try await first.wait()
        #expect(try digest(w) == damaged)
        #expect(try FileSystem.status(w)?.inode == inode)
        stage.hub.clearFaults()
        gate.release()
        #expect(try await stage.run("verify", "org/m").status == 1)
        let before = stage.hub.requests.count
        let again = try await stage.run("verify", "org/m", "--repair")
        #expect(again.status == 0, "\(again.error)")
        #expect(
            try asked(since: before).allSatisfy { $0.lowerBound >= Self.step && $0.upperBound <= 2 * Self.step })
        try await expectSound()
    }

    #if os(Linux)
    /// Intact bytes are not a partial before the map lists them.
    @Test func aRepairOnAFullDiskLeavesNothingThatNobodyKnows() async throws {
        let snapshot = try await pulled()
        let w = try blob("w.safetensors", snapshot)
        try flip(w, at: Self.step)
        let library = try await FaultyDisk.library(in: stage.machine)
        let result = try await stage.run(
            ["verify", "org/m", "--repair"], with: ["LD_PRELOAD": library, "FAULTY_DISK": "full:3000000"])
        #expect(result.status == 6, "\(result.error)")
        let names = try FileSystem.entries(Path.parent(w)) ?? []
        let partials = names.filter { $0.hasSuffix(".incomplete") }
        // None, or where blobs share extents one with its map.
        #expect(partials.isEmpty || partials.contains { $0.contains(".map.") }, "\(names)")
        #expect(try await stage.run("verify", "org/m", "--repair").status == 0)
        try await expectSound()
    }
    #endif

    @Test func twoAtOnceFetchNoByteTwice() async throws {
        let snapshot = try await pulled()
        try flip(try blob("w.safetensors", snapshot), at: 5)
        let before = stage.hub.requests.count
        let gate = stage.hub.hold("^GET", after: 100_000, times: nil, on: .cdn)
        let processes = [
            try stage.start("verify", "org/m", "--repair"), try stage.start("verify", "org/m", "--repair"),
        ]
        try await gate.reached()
        try await RunningProcess.waitForOne(of: processes, toSay: "is fetching w.safetensors; waiting")
        gate.release()
        stage.hub.clearFaults()
        for process in processes {
            let result = try await process.wait()
            #expect(result.status == 0, "\(result.error)")
        }
        let asked = try asked(since: before)
        // On a slow machine a range gives its rear to an idle connection, and ends before that.
        var kept: [Range<Int64>] = []
        for range in asked {
            if let slow = kept.firstIndex(where: { $0.overlaps(range) }), kept[slow].upperBound == range.upperBound,
                kept[slow].lowerBound < range.lowerBound
            {
                kept[slow] = kept[slow].lowerBound..<range.lowerBound
            }
            kept.append(range)
        }
        #expect(kept.reduce(0) { $0 + Int64($1.count) } == Self.step, "\(asked)")
        #expect(IntervalSet(kept).ranges == [0..<Self.step], "\(asked)")
        try await expectSound()
    }

    @Test func aLockIsWaitedForByRepairAlone() async throws {
        let snapshot = try await pulled()
        let w = try blob("w.safetensors", snapshot)
        try flip(w, at: 5)
        let lock = try FileDescriptor(
            Path.join(stage.cache, ".locks/models--org--m/\(Path.name(w)).lock"), [.write, .create])
        #expect(try lock.tryLock() == true)
        #expect(try await stage.run("verify", "org/m").status == 1)
        let repair = try stage.start("verify", "org/m", "--repair")
        try await repair.wait(forText: "is fetching w.safetensors; waiting")
        lock.unlock()
        #expect(try await repair.wait().status == 0)
        try await expectSound()
    }

    @Test func whatCannotBeFetchedIsSaidWithItsStatus() async throws {
        let snapshot = try await pulled()
        try FileSystem.remove(try blob("sub/a.txt", snapshot))
        // The link alone can be made without a network.
        try FileSystem.remove(Path.join(snapshot, "sub/b.txt"))
        let offline = try await stage.run("verify", "org/m", "--repair", "--offline", "--json")
        #expect(offline.status == 5)
        #expect(try offline.errorCode() == "offline")
        #expect(
            try problems(offline).map { "\($0["path"]?.string ?? "") \($0["repaired"]?.bool ?? false)" }
                == ["sub/a.txt false", "sub/b.txt true"])
        try FileSystem.removeTree(Path.join(stage.root.path, "org/m"))
        let gone = try await stage.run("verify", "org/m", "--repair", "--json")
        #expect(gone.status == 3)
        #expect(try problems(gone).map { $0["repaired"]?.bool } == [false])
    }

    /// Where the files of a commit are not known, blobs still have names.
}
