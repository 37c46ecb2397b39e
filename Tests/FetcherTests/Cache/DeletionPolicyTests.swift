@testable import Fetcher
import HubCore
import Support
import Testing

/// `hub gc` deletes what its policy says, the least recently used first, and says why.
@Suite struct DeletionPolicyTests {
    private let now = 2_000_000_000.0

    /// Four revisions of 100 bytes each in two repositories, last used 1, 10, 20 and 40 days ago; `c` and `d` are detached.
    private func cache() throws -> HandmadeCache {
        let cache = try HandmadeCache()
        let (one, two) = (cache.repository(), cache.repository("models--org--n"))
        try cache.revision(.of("a"), [(sha1("a"), 100)], refs: ["main"], in: one)
        try cache.revision(.of("b"), [(sha1("b"), 100)], refs: ["v1"], in: one)
        try cache.revision(.of("c"), [(sha1("c"), 100)], in: one)
        try cache.revision(.of("d"), [(sha1("d"), 100)], in: two)
        for (folder, etag, days) in [(one, "a", 1.0), (one, "b", 10), (one, "c", 20), (two, "d", 40)] {
            try use(folder, sha1(Character(etag)), days)
        }
        return cache
    }

    private func use(_ folder: RepositoryFolder, _ etag: String, _ days: Double) throws {
        let time = now - days * 86400
        try FileSystem.setTimes(folder.blob(etag), accessed: time, modified: time)
    }

    private func plan(
        _ cache: HandmadeCache, diskFree: Int64 = 0, _ change: (inout DeletionPolicy) throws -> Void
    ) throws -> DeletionPlan {
        var policy = DeletionPolicy()
        try change(&policy)
        return try policy.plan(for: try cache.scan(), now: now, diskFree: diskFree)
    }

    /// The first digit of each revision planned, in order.
    private func digits(_ plan: DeletionPlan) -> String {
        plan.rows.map { row in
            if case .revision(let commit) = row.subject { String(commit.hash.prefix(1)) } else { "?" }
        }.joined()
    }

    @Test(arguments: [(0.0, "dcba"), (5, "dcb"), (10, "dcb"), (15, "dc"), (39, "d"), (41, "")])
    func olderThanGoesByTheLastUse(days: Double, expected: String) throws {
        #expect(digits(try plan(try cache()) { $0.olderThan = days * 86400 }) == expected)
    }

    @Test func olderThanZeroIsEverythingEvenWhatAWrongClockUsedTomorrow() throws {
        let cache = try cache()
        try use(cache.repository(), sha1("a"), -1)
        #expect(digits(try plan(cache) { $0.olderThan = 0 }).count == 4)
    }

    /// Trap 43: a commit that was asked for by its hash has none.
    @Test func detachedIsWhatNoRefNames() throws {
        let plan = try plan(try cache()) { $0.detached = true }
        #expect(digits(plan) == "dc")
        #expect(plan.rows.allSatisfy { $0.reason == "no branch or tag points to it" })
        #expect(
            digits(
                try self.plan(try cache()) {
                    $0.detached = true; $0.olderThan = 30 * 86400
                }) == "d")
    }

    @Test(arguments: [
        (["org/m"], "d"), (["org/m@main"], "dcb"), (["org/m@v1", "org/n"], "ca"),
        (["org/m@\(String(repeating: "c", count: 7))"], "dba"),
        (["org/m@\(String(repeating: "c", count: 6))"], "dcba"),
        (["org/other", "datasets/org/m"], "dcba"),
    ])
    func whatIsKeptStaysAndIsSaid(keep: [String], expected: String) throws {
        let plan = try plan(try cache()) { policy in
            policy.olderThan = 0
            policy.keep = try keep.map { try ModelReference(parsing: $0, endpoint: .huggingFace) }
        }
        #expect(digits(plan) == expected)
        #expect(plan.protected.count == 4 - expected.count)
        #expect(plan.protected.allSatisfy { $0.obstacle == .kept })
    }

    @Test(arguments: [(Int64(400), ""), (399, "d"), (300, "d"), (299, "dc"), (100, "dcb"), (0, "dcba")])
    func theCacheShrinksToItsBoundFromTheLeastRecentlyUsedOn(bound: Int64, expected: String) throws {
        let cache = try cache()
        let plan = try plan(cache) { $0.maxSize = bound }
        #expect(digits(plan) == expected)
        _ = try Deletion(plan, layout: cache.layout).run()
        #expect(try cache.scan().totalSize <= bound)
    }

    @Test(arguments: [(Int64(0), ""), (50, ""), (51, "d"), (150, "d"), (250, "dc"), (10_000, "dcba")])
    func theDiskIsFreedUntilEnoughIsFree(wanted: Int64, expected: String) throws {
        #expect(digits(try plan(try cache(), diskFree: 50) { $0.free = wanted }) == expected)
    }

    /// An unreachable target is reported with figures; before, the whole cache was deleted for nothing.
    @Test func aTargetThatCannotBeReachedIsTold() throws {
        let cache = try cache()
        #expect(try plan(cache, diskFree: 50) { $0.free = 450 }.unreached.isEmpty)
        #expect(try plan(cache, diskFree: 50) { $0.free = 451 }.unreached == [.free(wanted: 451, now: 50)])
        let kept = try plan(cache) { policy in
            policy.maxSize = 10
            policy.keep = [try ModelReference(parsing: "org/n")]
        }
        #expect(kept.unreached == [.size(wanted: 10, reached: 100)])
        #expect(try plan(cache) { $0.maxSize = 0 }.unreached.isEmpty)
    }

    @Test func ofTwoTargetsBothAreReached() throws {
        #expect(
            digits(
                try plan(try cache(), diskFree: 0) {
                    $0.maxSize = 300; $0.free = 200
                }) == "dc")
        #expect(
            digits(
                try plan(try cache(), diskFree: 0) {
                    $0.maxSize = 100; $0.free = 100
                }) == "dcb")
    }

    /// Partials and orphans are no part of the size that is bounded: what they free must not pass for progress.
    @Test func partialsAndOrphansDoNotCountTowardsTheBound() throws {
        let cache = try cache()
        try cache.blob("\(sha1("e")).hub.incomplete", size: 5000, in: cache.repository())
        try cache.blob(sha1("f"), size: 5000, in: cache.repository())
        let plan = try plan(cache) {
            $0.maxSize = 100; $0.partials = true; $0.orphans = true
        }
        #expect(digits(plan).filter { $0 != "?" } == "dcb")
        _ = try Deletion(plan, layout: cache.layout).run()
        #expect(try cache.scan().totalSize == 100)
    }

    @Test func whatSeveralRevisionsShareCountsOnceTowardsTheBound() throws {
        let cache = try cache()
        // The oldest and the newest share their content: deleting the oldest makes the cache no smaller.
        try cache.link("too.bin", to: sha1("a"), at: .of("c"), in: cache.repository())
        let plan = try plan(cache) { $0.maxSize = 200 }
        #expect(digits(plan) == "db" || digits(plan) == "dc" || digits(plan) == "dbc")
        _ = try Deletion(plan, layout: cache.layout).run()
        #expect(try cache.scan().totalSize <= 200)
    }

    // MARK: Partials

    private static let ours = ["\(sha1("1")).hub.incomplete", "\(sha1("1")).hub.map.incomplete"]

    private static let partials: [([String], Double, Bool)] = [
        (ours, 0.0, true), (ours, 7200, true), (["\(sha1("1")).incomplete"], 60, false),
        (["\(sha1("1")).incomplete"], 3601, true), (["\(sha1("1")).0a1b2c3d.incomplete"], 3599, false),
        (["\(sha1("1")).0a1b2c3d.incomplete"], 3600, true), (["\(sha1("1")).0a1b2c3d.tmp"], 60, false),
        (["\(sha1("1")).0a1b2c3d.tmp"], 3601, true), (["\(sha1("1")).incomplete"], -60, false),
    ]

    /// Trap 28: other clients show no lock that we could see.
    @Test(arguments: partials)
    func anothersPartialIsSparedForAnHourAndOursIsNot(names: [String], age: Double, goes: Bool) throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        for name in names {
            try cache.blob(name, size: 50, in: folder)
            try FileSystem.setTimes(folder.blob(name), accessed: now - age, modified: now - age)
        }
        let plan = try plan(cache) { $0.partials = true }
        #expect(plan.rows.count == (goes ? 1 : 0))
        #expect(plan.protected.count == (goes ? 0 : 1))
        #expect(plan.protected.allSatisfy { $0.reason.hasPrefix("changed ") })
        #expect(plan.freedBytes == (goes ? Int64(50 * names.count) : 0))
        #expect(try Deletion(plan, layout: cache.layout).run() == plan.freedBytes)
        // A repository that becomes empty is removed.
        #expect(FileSystem.exists(folder.path) == !goes)
    }

    /// Trap 28: what is locked is under way, however old it is.
    @Test func aPartialThatIsBeingDownloadedIsProtected() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        for name in Self.ours { try cache.blob(name, size: 50, in: folder) }
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(sha1("1")), [.write, .create])
        #expect(try lock.tryLock() == true)
        let plan = try plan(cache) {
            $0.partials = true; $0.orphans = true
        }
        #expect(plan.isEmpty)
        #expect(plan.protected.map(\.reason) == ["in use: \(sha1("1").prefix(12)) is being downloaded"])
        lock.unlock()
    }

    /// The ref is written when all files are there: until then the snapshot of a first download has none.
    @Test func aFirstDownloadThatCanBeContinuedIsNotDetached() throws {
        let cache = try cache()
        let two = cache.repository("models--org--n")
        for name in Self.ours { try cache.blob(name, size: 50, in: two) }
        #expect(digits(try plan(cache) { $0.detached = true }) == "c")
        #expect(
            try plan(cache) {
                $0.partials = true; $0.detached = true
            }.rows.count == 3)
    }

    @Test func aPartialBesideARevisionGoesAlone() throws {
        let cache = try cache()
        for name in Self.ours { try cache.blob(name, size: 50, in: cache.repository()) }
        let plan = try plan(cache) { $0.partials = true }
        #expect(try Deletion(plan, layout: cache.layout).run() == 100)
        #expect(try cache.scan().totalSize == 400)
        #expect(try cache.scan().partialSize == 0)
    }

    // MARK: Orphans

    @Test func anOrphanGoesAndWhatIsLinkedStays() throws {
        let cache = try cache()
        try cache.blob(sha1("9"), size: 90, in: cache.repository())
        let plan = try plan(cache) { $0.orphans = true }
        #expect(plan.rows.map(\.subject) == [.orphan(sha1("9"))])
        #expect(plan.rows.map(\.reason) == ["no snapshot links to it"])
        #expect(try Deletion(plan, layout: cache.layout).run() == 90)
        #expect(try cache.scan().totalSize == 400)
    }

    @Test(arguments: [true, false])
    func aRepositoryWithoutARevisionIsRemains(hasBlob: Bool) throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.ref("main", .of("a"), in: folder)
        if hasBlob { try cache.blob(sha1("9"), size: 90, in: folder) }
        #expect(try PythonScan(cache.layout.root).warnings.count == 1)
        let plan = try plan(cache) { $0.orphans = true }
        #expect(plan.rows.map(\.subject) == [.remains])
        #expect(try Deletion(plan, layout: cache.layout).run() == (hasBlob ? 90 : 0))
        #expect(!FileSystem.exists(folder.path))
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
    }

    @Test func nothingAskedForIsNothingPlanned() throws {
        #expect(DeletionPolicy().isEmpty)
        let cache = try cache()
        let before = try cache.listing()
        let plan = try plan(cache) { _ in }
        #expect(plan.isEmpty && plan.protected.isEmpty)
        #expect(try Deletion(plan, layout: cache.layout).run() == 0)
        #expect(try cache.listing() == before)
    }

    @Test func aPlanAloneChangesNothing() throws {
        let cache = try cache()
        let before = try cache.listing()
        _ = try plan(cache) {
            $0.olderThan = 0; $0.partials = true; $0.orphans = true; $0.maxSize = 0
        }
        #expect(try cache.listing() == before)
    }
}
