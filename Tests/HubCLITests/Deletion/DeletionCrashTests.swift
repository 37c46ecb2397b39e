#if os(Linux)
import HubCore
import Support
import Testing

@testable import HubCLI

/// Deletions that are killed at each of their steps: what is left is a cache that Python reads, and the next run ends
/// where the first one would have.
@Suite struct DeletionCrashTests {
    /// A cache with two revisions that share a file, another repository, and a payload of the shared store.
    static func fill(_ stage: Stage) throws {
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa", "b.bin": "bbbbbb"])
        try stage.plant(
            "models--org--one", commit: commit("2"), ref: "v2", files: ["a.bin": "aaaa", "c.bin": "cc"])
        try stage.plant("models--org--two", commit: commit("1"), files: ["d.bin": "dddddddd"])
        let hash = String(repeating: "ab", count: 32)
        let etag = String(repeating: "5", count: 64)
        let store = Path.join(stage.cache, "blobs")
        try FileSystem.createDirectories(Path.join(store, "ab"))
        try FileSystem.replace(Path.join(store, ".huggingface-shared-blobs"), with: Array("1\n".utf8))
        try FileSystem.replace(Path.join(store, "ab/\(hash)"), with: Array("payload".utf8))
        try FileSystem.replace(
            Path.join(store, "ab/\(hash).refs"), with: Array("models--org--one/blobs/\(etag)\n".utf8))
        let one = Path.join(stage.cache, "models--org--one")
        try FileSystem.createSymlink("../../blobs/ab/\(hash)", at: Path.join(one, "blobs/\(etag)"))
        try FileSystem.createSymlink(
            "../../blobs/\(etag)", at: Path.join(one, "snapshots/\(commit("1"))/shared.bin"))
        for name in ["trees/\(commit("1")).json", ".no_exist/\(commit("1"))/x.json"] {
            try FileSystem.createDirectories(Path.parent(Path.join(one, name)))
            try FileSystem.replace(Path.join(one, name), with: [])
        }
    }

    /// Everything in the cache but locks, and the trash.
    private static func listing(_ stage: Stage) throws -> [String] {
        try stage.listing(stage.cache).filter { !$0.hasPrefix(".locks") && !$0.hasSuffix(".lock") }
            + stage.listing(stage.cache + "-trash").map { "trash: \($0.drop { $0 != "/" })" }
    }

    /// What Python would warn of: a ref without its snapshot, a link to nothing, a folder without `snapshots`.
    private static func complaints(_ stage: Stage) throws -> [String] {
        var out: [String] = []
        for name in try FileSystem.entries(stage.cache) ?? [] where name.contains("--") {
            let folder = Path.join(stage.cache, name)
            let snapshots = try FileSystem.entries(Path.join(folder, "snapshots"))
            if snapshots == nil { out.append("\(name): no snapshots") }
            for path in try stage.listing(folder) {
                let place = Path.join(folder, path)
                if path.hasPrefix("snapshots/"), FileSystem.linkText(place) != nil, !FileSystem.exists(place) {
                    out.append("\(name)/\(path): leads nowhere")
                }
                if path.hasPrefix("refs/"), try FileSystem.status(place)?.kind == .file,
                    let text = try FileSystem.text(place), snapshots?.contains(text) != true
                {
                    out.append("\(name)/\(path): names nothing")
                }
            }
        }
        return out
    }

    @Test(arguments: [
        ["rm", "org/one@1111111", "--yes"], ["rm", "org/one", "--yes"],
        ["rm", "org/one@1111111", "--yes", "--trash"], ["rm", "org/one", "--yes", "--trash"],
    ])
    func killedAtAnyStepPythonReadsTheCacheAndTheNextRunFinishes(words: [String]) async throws {
        let stage = try Stage()
        let library = try await FaultyDisk.library(in: stage.machine)
        func reset() throws {
            for folder in [stage.cache, stage.cache + "-trash", Path.parent(stage.catalog)] {
                try FileSystem.removeTree(folder)
            }
            try Self.fill(stage)
        }
        try reset()
        #expect(
            try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment).status == 0)
        let expected = try Self.listing(stage)
        var killed = 0
        for step in 1..<200 {
            try reset()
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words,
                environment: stage.environment.merging(["LD_PRELOAD": library, "FAULTY_DISK": "kill:\(step)"]) {
                    $1
                })
            #expect(try Self.complaints(stage) == [], "step \(step)")
            guard result.wasKilled else {
                #expect(result.status == 0, "\(result.error)")
                break
            }
            killed += 1
            // An item not begun is deleted again: status 3 means it is gone.
            let again = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect([0, 3].contains(again.status), "step \(step): \(again.error)")
            #expect(try Self.complaints(stage) == [], "step \(step)")
            let left = try Self.listing(stage)
            #expect(left == expected, "step \(step)")
        }
        #expect(killed >= 5)
    }

    /// All is back before the trash's own entry goes.
    @Test(arguments: ["org/one", "org/one@1111111"])
    func aRestoreKilledAtAnyStepIsFinishedByTheNext(word: String) async throws {
        let stage = try Stage()
        let library = try await FaultyDisk.library(in: stage.machine)
        let words = ["trash", "restore", word]
        var killed = 0
        for step in 1..<200 {
            for folder in [stage.cache, stage.cache + "-trash", Path.parent(stage.catalog)] {
                try FileSystem.removeTree(folder)
            }
            try Self.fill(stage)
            let before = try Self.listing(stage)
            try #require(try await stage.run("rm", word, "--trash", "--yes").status == 0)
            let result = try await stage.run(words, with: ["LD_PRELOAD": library, "FAULTY_DISK": "kill:\(step)"])
            #expect(try Self.complaints(stage) == [], "step \(step)")
            guard result.wasKilled else {
                #expect(result.status == 0, "\(result.error)")
                break
            }
            killed += 1
            // Killed after the manifest went, nothing is left to restore.
            let again = try await stage.run(words)
            #expect([0, 3].contains(again.status), "step \(step): \(again.error)")
            #expect(try stage.listing(stage.cache + "-trash").allSatisfy { !$0.contains("/") }, "step \(step)")
            #expect(try Self.listing(stage).filter { !$0.hasPrefix("trash") } == before, "step \(step)")
        }
        #expect(killed >= 5)
    }

    /// The blobs cannot be locked, so refs and snapshot go and the command fails. When that is put right, the same command
    /// deletes the rest.
    @Test(arguments: [
        ["gc", "--unused-for", "0d", "--yes"], ["rm", "org/one", "--yes"], ["rm", "org/one@1111111", "--yes"],
        ["rm", "org/one@1111111", "--yes", "--trash"],
    ])
    func afterAFaultTheSameCommandDeletesTheRest(words: [String]) async throws {
        let expected = try Stage()
        try Self.fill(expected)
        #expect(try await expected.run(words).status == 0)
        let stage = try Stage()
        try Self.fill(stage)
        let obstacle = Path.join(stage.cache, ".locks/models--org--one")
        try FileSystem.createDirectories(Path.parent(obstacle))
        try FileSystem.replace(obstacle, with: [])
        #expect(try await stage.run(words).status == 6)
        // A revision without its snapshot is not there to be named: 3 then.
        #expect(try await [3, 6].contains(stage.run(words).status))
        #expect(try Self.complaints(stage) == [])
        try FileSystem.remove(obstacle)
        let result = try await stage.run(words)
        #expect([0, 3].contains(result.status), "\(result.error)")
        #expect(try Self.listing(stage) == Self.listing(expected))
        #expect(try await stage.run("gc", "--partials", "--dry-run").output.contains("nothing to delete"))
    }
}
#endif
