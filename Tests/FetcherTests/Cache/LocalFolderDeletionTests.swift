@testable import Fetcher
import HubCore
import Support
import Testing

/// In a `--local-dir` folder only pulled files are deleted, and nothing while a pull runs.
@Suite struct LocalFolderDeletionTests {
    private let cache: HandmadeCache
    private let folder: LocalFolder

    init() throws {
        cache = try HandmadeCache()
        folder = LocalFolder(cache.folder("work"))
        try folder.prepare(RepositoryTree(commit: .of("a"), files: []))
        try cache.write(folder.place("a.bin"), "aaaa")
        try folder.write("a.bin", commit: .of("a"), digest: .gitSHA1(sha1("1")))
    }

    private func plan() throws -> DeletionPlan {
        var planner = DeletionPlanner(try cache.scan())
        try planner.add(folder, sparing: OpenFiles(), reason: "test")
        return planner.plan
    }

    private func names() throws -> [String] { try folder.names(below: folder.path) }

    /// The home of Python's cache can be the very same folder.
    @Test func whatOthersKeepBesideTheBookkeepingStays() throws {
        try cache.write(Path.join(folder.bookkeeping, "hub/models--org--m/refs/main"), "x")
        try cache.write(Path.join(folder.bookkeeping, "token"), "x")
        let freed = try Deletion(try plan(), layout: cache.layout).run()
        #expect(freed == 4)
        #expect(
            try names().map { $0.dropping(prefix: ".cache/huggingface/") ?? $0 }
                == [".gitignore", "CACHEDIR.TAG", "hub/models--org--m/refs/main", "token"])
    }

    @Test func aloneItGoesWhole() throws {
        _ = try Deletion(try plan(), layout: cache.layout).run()
        #expect(!FileSystem.exists(folder.path))
    }

    /// Fine-tuned weights have the size of the original, and a move keeps their time.
    @Test func aFileOfOnesOwnThatWasMovedThereStays() throws {
        let now = Timestamp.now
        func note(_ digest: ContentDigest) throws {
            try cache.write(folder.notePath("a.bin"), "\(Commit.of("a").hash)\n\(digest.hex)\n\(now - 100)\n")
        }
        try FileSystem.setTimes(folder.place("a.bin"), accessed: now, modified: now - 200)
        try note(.gitSHA1(sha1("1")))
        let plan = try plan()
        #expect(plan.isEmpty && plan.protected.map(\.reason) == ["changed since it was downloaded"])
        #expect(try folder.note(of: "a.bin") == nil)
        let targets = try VerificationTarget.targets(in: folder) { _ in nil }
        #expect(targets.flatMap(\.claims).map(\.isForeign) == [true])
        // Only its inode is new, as in a copy of the folder.
        try note(ContentHasher.digest(of: Array("aaaa".utf8), like: .gitSHA1("")))
        #expect(try self.plan().freedBytes == 4)
    }

    @Test(arguments: [".cache", ".cache/huggingface", ".cache/huggingface/download"])
    func nothingGoesWhereALinkLeadsElsewhere(name: String) throws {
        let elsewhere = cache.folder("elsewhere")
        try FileSystem.rename(folder.place(name), to: elsewhere)
        try FileSystem.createSymlink(elsewhere, at: folder.place(name))
        let before = try folder.names(below: cache.folder.path)
        let plan = try plan()
        #expect(plan.isEmpty && plan.protected.count == 1)
        var tally = FreedTally()
        try LocalRemoval(folder: folder, openFiles: OpenFiles()).delete(["a.bin"], &tally)
        #expect(tally.freed.size == 0)
        #expect(try folder.names(below: cache.folder.path) == before)
    }

    @Test func nothingGoesDuringAPull() throws {
        let made = try plan()
        #expect(made.rows.count == 1)
        let lock = try FileDescriptor(
            cache.write(Path.join(folder.downloads, "b.bin.lock")), [.write])
        try lock.lock()
        let before = try names()
        let plan = try plan()
        #expect(plan.isEmpty && plan.protected.map(\.reason) == ["in use: it is being downloaded"])
        _ = try Deletion(made, layout: cache.layout).run()
        #expect(try names() == before)
        try lock.setMode(0o666)
    }
}
