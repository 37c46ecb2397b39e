import Catalog
@testable import Fetcher
import HubCore
import Support
import Testing

/// What the end of a deletion that was cut off may take, and what only looks like its rest.
@Suite struct InterruptedDeletionTests {
    private let cache: HandmadeCache
    private let folder: RepositoryFolder
    private let now = Timestamp.now

    init() throws {
        cache = try HandmadeCache()
        folder = cache.repository()
    }

    private func begun(at time: Double) -> BegunDeletion {
        var deletion = BegunDeletion(
            folder: folder.name, commit: .of("a"), names: [sha1("1")], payloads: [], beganAt: time)
        deletion.row = 7
        return deletion
    }

    private func plan(
        at time: Double, keep: [ModelReference] = [], protection: Protection = Protection()
    ) throws -> DeletionPlan {
        var planner = DeletionPlanner(try cache.scan(), protection: protection)
        try planner.addInterrupted([begun(at: time)], keep: keep)
        return planner.plan
    }

    private func partial(modified time: Double) throws -> String {
        let name = "\(sha1("9")).hub.incomplete"
        try FileSystem.setTimes(cache.blob(name, size: 90, in: folder), accessed: time, modified: time)
        return name
    }

    /// A pull that was interrupted before its first file was whole has linked nothing.
    @Test func aDownloadBegunSinceStays() throws {
        _ = try partial(modified: now)
        let plan = try plan(at: now - 100)
        #expect(plan.isEmpty && plan.interrupted == [7])
    }

    @Test func aDownloadOfBeforeGoes() throws {
        _ = try partial(modified: now - 200)
        let plan = try plan(at: now - 100)
        #expect(plan.freedBytes == 90 && plan.interrupted == [7])
    }

    @Test func whatWasFetchedAgainAndNotLinkedYetStays() throws {
        try cache.blob(sha1("1"), in: folder)
        #expect(try plan(at: now - 100).isEmpty)
        #expect(try plan(at: now + 100).freedBytes == 10)
    }

    @Test func whatIsKeptOrPinnedStaysAndIsNotForgotten() throws {
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        let reference = try ModelReference(parsing: "org/m")
        let kept = try plan(at: now + 100, keep: [reference])
        #expect(kept.isEmpty && kept.protected.map(\.obstacle) == [.kept] && kept.interrupted.isEmpty)
        let pin = Pin(folder: folder.name, commit: .of("a"), note: nil, pinnedAt: now)
        let pinned = try plan(at: now + 100, protection: Protection(pins: [pin]))
        #expect(pinned.isEmpty && pinned.interrupted.isEmpty)
        let plan = try plan(at: now + 100)
        #expect(plan.freedBytes == 10 && plan.interrupted == [7])
    }

    /// A target counts what goes anyway, so that nothing more than before goes for it.
    @Test func theEndOfADeletionBringsATargetNearer() throws {
        try cache.revision(.of("a"), [(sha1("1"), 100)], in: folder)
        try cache.revision(.of("b"), [(sha1("2"), 100)], in: folder)
        try cache.revision(.of("c"), [(sha1("3"), 100)], in: folder)
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.addInterrupted([begun(at: now + 100)])
        var policy = DeletionPolicy()
        policy.maxSize = 200
        let plan = try policy.plan(with: planner, now: now, diskFree: 0)
        #expect(plan.rows.map(\.subject) == [.revision(.of("a"))] && plan.freedBytes == 100)
        policy.maxSize = 199
        #expect(try policy.plan(with: planner, now: now, diskFree: 0).freedBytes == 200)
    }

    /// Items restored from the trash are no longer part of an interrupted deletion.
    @Test func theTrashEndsItAndRestoringForgetsIt() throws {
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        let catalog = try Catalog(path: cache.folder("state/catalog.sqlite3"))
        let journal = DeletionJournal(
            DispensableCatalog(catalog) { Issue.record("\($0)") }, cache: cache.layout.root)
        let before = try cache.listing()
        func note() throws { _ = try catalog.begin([begun(at: now + 100)], inCache: cache.layout.root) }
        try note()
        var planner = DeletionPlanner(try cache.scan())
        try planner.addInterrupted(journal.interrupted())
        let trash = Trash(cache.layout)
        let outcome = try trash.take(planner.plan, protection: Protection(), journal: journal)
        #expect(outcome.spared.isEmpty && outcome.failed.isEmpty && outcome.trashedBytes == 10)
        #expect(journal.interrupted().isEmpty)
        try note()
        try trash.restore(try #require(try trash.entries().first), journal: journal)
        #expect(journal.interrupted().isEmpty)
        #expect(try cache.listing().filter { !$0.key.hasPrefix(".locks") } == before)
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
        var removal = RepositoryRemoval(folder: folder, openFiles: OpenFiles())
        try removal.remove(partials: [".ipynb_checkpoints"])
        #expect(try cache.listing().filter { !$0.key.hasPrefix(".locks") } == before)
    }
}
