@testable import Fetcher
import HubCore
import Support
import Testing

/// What comes in the way of a deletion, and what the end of one that was cut off takes.
@Suite struct InterruptedDeletionTests {
    private let cache: HandmadeCache
    private let folder: RepositoryFolder

    init() throws {
        cache = try HandmadeCache()
        folder = cache.repository()
    }

    // MARK: What was cut off

    private var aside: String { Path.join(folder.locks, RepositoryRemoval.snapshot + Commit.of("a").hash) }

    /// Two revisions with a file of their own and a common one; the first is set aside.
    private func cutOff() throws {
        try cache.revision(.of("a"), [(sha1("1"), 10), (sha1("3"), 30)], in: folder)
        try cache.revision(.of("b"), [(sha1("2"), 20), (sha1("3"), 30)], in: folder)
        try FileSystem.createDirectories(folder.locks)
        try FileSystem.rename(folder.snapshot(.of("a")), to: aside)
    }

    @Test func theBlobsThatNothingElseNeedsFollow() throws {
        try cutOff()
        let (freed, faults) = cache.layout.finishDeletions()
        #expect(freed == 10 && faults.isEmpty)
        #expect(try FileSystem.entries(folder.blobs) == [sha1("2"), sha1("3")])
        #expect(try FileSystem.entries(folder.locks)?.contains { $0.hasPrefix("hub.") } == false)
        #expect(cache.layout.finishDeletions().freed == 0)
    }

    /// A pull has linked the blob again.
    @Test func whatWasFetchedAgainStays() throws {
        try cutOff()
        try cache.link("w.bin", to: sha1("1"), at: .of("c"), in: folder)
        #expect(cache.layout.finishDeletions().freed == 0)
        #expect(FileSystem.exists(folder.blob(sha1("1"))))
    }

    /// The process that deletes holds the lock; so does one that pulls.
    @Test func whatAnotherProcessWorksOnIsLeftToIt() throws {
        try cutOff()
        let use = try RepositoryUse.share(folder)
        #expect(cache.layout.finishDeletions().freed == 0)
        #expect(FileSystem.exists(aside))
        withExtendedLifetime(use) {}
    }

    @Test func aWholeRepositoryThatWasSetAsideGoesWithItsPayloads() throws {
        let hash = String(repeating: "ab", count: 32)
        try cache.makeStore()
        try cache.payload(hash)
        try cache.share(sha256("1"), hash, in: folder)
        try cache.revision(.of("a"), [(sha1("1"), 10)], in: folder)
        try FileSystem.createDirectories(folder.locks)
        try FileSystem.rename(folder.path, to: Path.join(folder.locks, RepositoryRemoval.whole))
        let payload = SharedStore(layout: cache.layout).payload(hash)
        let size = try #require(try FileSystem.status(payload)).size
        #expect(cache.layout.finishDeletions().freed == 10 + size)
        #expect(!FileSystem.exists(payload))
    }

    // MARK: What comes in the way

    /// Python fetches without a list of the files: any lock can be of the revision.
    @Test func aLockWhoseFileNobodyKnowsKeepsTheRevision() throws {
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        try cache.revision(.of("b"), [(sha1("2"), 20)], in: folder)
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        for revision in state.repositories[0].revisions where revision.commit == .of("a") {
            try planner.add(revision, of: state.repositories[0], reason: "test")
        }
        func delete(holding etag: String) throws -> Deletion.Outcome {
            let lock = try FileDescriptor(cache.write(folder.lock(etag)), [.write])
            try lock.lock()
            let outcome = Deletion(planner.plan, layout: cache.layout).carryOut()
            try lock.setMode(0o666)
            return outcome
        }
        #expect(planner.plan.rows.count == 1)
        #expect(try delete(holding: sha1("5")).spared.count == 1)
        #expect(FileSystem.exists(folder.snapshot(.of("a"))))
        // That of another revision's file says nothing about this one.
        #expect(try delete(holding: sha1("2")).freedBytes == 10)
    }

    @Test func aFolderAmongTheBlobsIsNamedBeforeAnythingGoes() throws {
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        try cache.write(Path.join(folder.blobs, ".ipynb_checkpoints/x"), "mine")
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0], reason: "test")
        #expect(planner.plan.isEmpty)
        #expect(planner.plan.protected.first?.reason.contains("blobs/.ipynb_checkpoints is a folder") == true)
        let before = try cache.listing()
        var removal = RepositoryRemoval(folder: folder)
        try removal.remove(blobs: [".ipynb_checkpoints"])
        #expect(try cache.listing().filter { !$0.key.hasPrefix(".locks") } == before)
    }
}
