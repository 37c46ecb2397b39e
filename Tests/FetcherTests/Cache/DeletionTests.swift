@testable import Fetcher
import HubCore
import Support
import Testing

/// Every deletion is explained before it happens, frees what it said, and takes nothing that something else needs.
@Suite struct DeletionTests {
    /// Plans and carries out; what was planned, and the bytes that went.
    @discardableResult
    private func delete(
        _ cache: HandmadeCache, _ commits: [Commit], of name: String = "models--org--m"
    ) throws -> (plan: DeletionPlan, freed: Int64) {
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        for repository in state.repositories where repository.folder.name == name {
            for revision in repository.revisions where commits.contains(revision.commit) {
                try planner.add(revision, of: repository, reason: "test")
            }
        }
        let freed = try Deletion(planner.plan, layout: cache.layout).run()
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
        return (planner.plan, freed)
    }

    private func two() throws -> (cache: HandmadeCache, folder: RepositoryFolder) {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10), (sha256("2"), 200)], refs: ["main", "v1"], in: folder)
        try cache.revision(.of("b"), [(sha1("1"), 10), (sha1("3"), 3)], refs: ["refs/pr/1"], in: folder)
        for commit in [Commit.of("a"), .of("b")] {
            try cache.write(folder.tree(commit), "{}")
            try cache.write(Path.join(Path.join(folder.missing, commit.hash), "sub/absent.json"))
        }
        return (cache, folder)
    }

    @Test func blobsThatAnotherRevisionNeedsStay() throws {
        let (cache, folder) = try two()
        let (plan, freed) = try delete(cache, [.of("a")])
        #expect(plan.rows.map(\.freedBytes) == [200] && freed == 200)
        #expect(plan.rows[0].refs == ["main", "v1"])
        #expect(try FileSystem.entries(folder.blobs) == [sha1("1"), sha1("3")])
        #expect(try FileSystem.entries(folder.snapshots) == [Commit.of("b").hash])
        #expect(try FileSystem.entries(folder.refs) == ["refs"])
    }

    /// Trap 44: Python leaves them; an old tree would later call an empty snapshot incomplete.
    @Test func theTreeAndTheNotesOfAbsenceOfADeletedRevisionGo() throws {
        let (cache, folder) = try two()
        try delete(cache, [.of("a")])
        #expect(try FileSystem.entries(folder.trees) == [Commit.of("b").hash + ".json"])
        #expect(try FileSystem.entries(folder.missing) == [Commit.of("b").hash])
    }

    @Test func refsThatNamedADeletedRevisionGoWithTheirFolders() throws {
        let (cache, folder) = try two()
        try cache.write(folder.ref("feature/line-end"), Commit.of("b").hash + "\n")
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0].revisions[1], of: state.repositories[0], reason: "test")
        _ = try Deletion(planner.plan, layout: cache.layout).run()
        #expect(try FileSystem.entries(folder.refs) == ["main", "v1"])
    }

    @Test func withItsLastRevisionARepositoryGoesWholeButForItsLocks() throws {
        let (cache, folder) = try two()
        try cache.blob(sha1("9"), size: 90, in: folder)
        try cache.blob("\(sha1("8")).hub.incomplete", size: 80, in: folder)
        try cache.write(Path.join(folder.snapshots, ".DS_Store"), "litter")
        try cache.write(folder.lock(sha1("1")))
        let (plan, freed) = try delete(cache, [.of("a"), .of("b")])
        #expect(plan.rows.map(\.freedBytes) == [200, 183])
        #expect(freed == plan.freedBytes)
        #expect(!FileSystem.exists(folder.path))
        #expect(FileSystem.exists(folder.lock(sha1("1"))), "a lock file is never deleted")
    }

    /// Trap 42: a commit is not unique across repositories.
    @Test func theSameCommitInTwoRepositoriesIsTwoThings() throws {
        let cache = try HandmadeCache()
        let (one, two) = (cache.repository(), cache.repository("models--org--fork"))
        for folder in [one, two] { try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder) }
        #expect(try delete(cache, [.of("a")]).freed == 10)
        #expect(!FileSystem.exists(one.path))
        #expect(try cache.scan().repositories.map(\.folder.name) == ["models--org--fork"])
        #expect(FileSystem.exists(two.blob(sha1("1"))))
    }

    @Test func aHardLinkedFileIsFreedWithItsLastName() throws {
        let cache = try HandmadeCache()
        let (one, two) = (cache.repository(), cache.repository("models--org--n"))
        try cache.revision(.of("a"), [(sha256("1"), 100)], in: one)
        try FileSystem.createDirectories(two.blobs)
        try FileSystem.createHardLink(one.blob(sha256("1")), at: two.blob(sha256("1")))
        try cache.link("w.bin", to: sha256("1"), at: .of("a"), in: two)
        #expect(try delete(cache, [.of("a")]).freed == 0)
        #expect(try delete(cache, [.of("a")], of: "models--org--n").freed == 100)
    }

    @Test func plainFilesOfASnapshotCountAndGo() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.write(Path.join(folder.snapshot(.of("a")), "sub/w.bin"), "12345")
        try cache.write(Path.join(folder.snapshot(.of("a")), "x.0a1b2c3d.tmp"), "123")
        try cache.write(Path.join(folder.snapshot(.of("b")), "w.bin"), "1")
        // Two names of one file in the same snapshot.
        try FileSystem.createHardLink(
            Path.join(folder.snapshot(.of("a")), "sub/w.bin"), at: Path.join(folder.snapshot(.of("a")), "again.bin")
        )
        let state = try cache.scan()
        var ledger = DeletionLedger(state)
        #expect(ledger.freedBytes([state.repositories[0].revisions[0]], of: state.repositories[0]) == 8)
        let (plan, freed) = try delete(cache, [.of("a")])
        #expect(plan.freedBytes == 8 && freed == 8)
        #expect(try FileSystem.entries(folder.snapshots) == [Commit.of("b").hash])
    }

    // MARK: Never out of the cache

    /// Trap 47: no entry of a snapshot leads a deletion elsewhere.
    @Test func noLinkIsFollowedOutOfTheCache() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        let file = try cache.folder.write("outside/precious.bin", "precious")
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        let snapshot = folder.snapshot(.of("a"))
        try FileSystem.createSymlink(file, at: Path.join(snapshot, "file"))
        try FileSystem.createSymlink(cache.folder("outside"), at: Path.join(snapshot, "folder"))
        try FileSystem.createSymlink("../../../../outside/precious.bin", at: Path.join(snapshot, "relative"))
        try FileSystem.createSymlink(file, at: folder.blob(sha256("9")))
        try FileSystem.createSymlink(cache.folder("outside"), at: Path.join(folder.refs, "elsewhere"))
        try FileSystem.createSymlink(cache.folder("outside"), at: Path.join(folder.path, "extra"))
        let (plan, freed) = try delete(cache, [.of("a")])
        #expect(freed == 10 && plan.freedBytes == 10)
        #expect(!FileSystem.exists(folder.path))
        #expect(try FileSystem.text(file) == "precious")
        #expect(try FileSystem.entries(cache.folder("outside")) == ["precious.bin"])
    }

    /// Python lists it, and so does a scan; its target is not ours.
    @Test func aRepositoryFolderThatIsALinkIsListedAndLeftAlone() throws {
        let cache = try HandmadeCache()
        let elsewhere = try HandmadeCache()
        try elsewhere.revision(.of("a"), [(sha1("1"), 10)], in: elsewhere.repository())
        try FileSystem.createSymlink(elsewhere.repository().path, at: cache.repository().path)
        let state = try cache.scan()
        #expect(state.repositories.map(\.size) == [10] && state.remarks.count == 1)
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0], reason: "asked for")
        try planner.addOrphans(of: state.repositories[0])
        #expect(planner.plan.isEmpty && planner.plan.protected.count == 2)
        #expect(try PythonScan(cache.layout.root).sizes == ["models--org--m": 10])
    }

    // MARK: What others are doing

    /// flock belongs to an open file: a descriptor of our own is as good as another process's.
    private func hold(_ folder: RepositoryFolder, _ etag: String) throws -> FileDescriptor {
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(etag), [.write, .create])
        #expect(try lock.tryLock() == true)
        return lock
    }

    @Test func whatAnotherProcessHoldsLockedIsProtected() throws {
        let (cache, folder) = try two()
        let lock = try hold(folder, sha256("2"))
        let before = try cache.listing()
        let (plan, freed) = try delete(cache, [.of("a")])
        #expect(plan.isEmpty && freed == 0)
        #expect(plan.protected.map(\.commit) == [.of("a")])
        #expect(plan.protected.allSatisfy { $0.reason.hasPrefix("in use") })
        #expect(try cache.listing() == before)
        lock.unlock()
        #expect(try delete(cache, [.of("a")]).freed == 200)
    }

    @Test func aLockOnABlobThatStaysProtectsNothingElse() throws {
        let (cache, folder) = try two()
        let lock = try hold(folder, sha1("1"))
        #expect(try delete(cache, [.of("a")]).freed == 200)
        lock.unlock()
    }

    @Test func aPartialThatIsBeingWrittenProtectsTheWholeRepository() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10)], in: folder)
        try cache.blob("\(sha256("8")).hub.incomplete", size: 80, in: folder)
        let lock = try hold(folder, sha256("8"))
        #expect(try delete(cache, [.of("a")]).plan.isEmpty)
        lock.unlock()
        #expect(try delete(cache, [.of("a")]).freed == 90)
    }

    /// Between the plan and the deed another pull may have begun.
    @Test func aBlobThatIsLockedByThenStays() throws {
        let (cache, folder) = try two()
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0].revisions[0], of: state.repositories[0], reason: "test")
        let lock = try hold(folder, sha256("2"))
        #expect(try Deletion(planner.plan, layout: cache.layout).run() == 0)
        #expect(FileSystem.exists(folder.blob(sha256("2"))))
        lock.unlock()
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
    }

    @Test func aBlobThatIsNeededByThenStays() throws {
        let (cache, folder) = try two()
        try cache.blob(sha1("9"), size: 90, in: folder)
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0].revisions[0], of: state.repositories[0], reason: "test")
        try planner.addOrphans(of: state.repositories[0])
        try cache.link("new.bin", to: sha256("2"), at: .of("c"), in: folder)
        try cache.link("rescued.bin", to: sha1("9"), at: .of("c"), in: folder)
        #expect(try Deletion(planner.plan, layout: cache.layout).run() == 0)
        let after = try cache.scan()
        #expect(after.repositories[0].revisions.allSatisfy { $0.files.allSatisfy { !$0.isBroken } })
        #expect(after.repositories[0].revisions.map(\.commit) == [.of("b"), .of("c")])
    }

    @Test func remainsThatHaveBecomeARepositoryByThenStay() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.blob(sha1("1"), size: 10, in: folder)
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0], reason: "test")
        #expect(planner.plan.rows.map(\.subject) == [.remains])
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        #expect(try Deletion(planner.plan, layout: cache.layout).run() == 0)
        #expect(try cache.scan().repositories[0].revisions[0].files.map(\.isBroken) == [false])
    }

    /// A folder in `snapshots/` that is not a commit is not ours, but a revision for Python.
    @Test func aForeignSnapshotKeepsTheRepositoryAndItsBlobs() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10), (sha1("2"), 20)], in: folder)
        let own = Path.join(folder.snapshots, "my-copy")
        try FileSystem.createDirectories(own)
        try FileSystem.createSymlink("../../blobs/\(sha1("1"))", at: Path.join(own, "w.bin"))
        try cache.write(Path.join(own, "notes.txt"), "mine")
        let (plan, freed) = try delete(cache, [.of("a")])
        #expect(plan.freedBytes == 20 && freed == 20)
        #expect(try FileSystem.text(Path.join(own, "notes.txt")) == "mine")
        #expect(FileSystem.exists(Path.join(own, "w.bin")))
        var policy = DeletionPolicy()
        policy.orphans = true
        let later = try policy.plan(for: try cache.scan(), now: Timestamp.now, diskFree: 0)
        #expect(later.isEmpty && later.protected.count == 1)
    }

    /// Killed after any step, what is left is a cache that Python reads.
    @Test func refsGoBeforeSnapshotsAndSnapshotsBeforeBlobs() throws {
        let (cache, folder) = try two()
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0].revisions[0], of: state.repositories[0], reason: "test")
        // A blob that cannot be removed, because it is a non-empty folder, stops the deletion at its last step.
        try FileSystem.remove(folder.blob(sha256("2")))
        try cache.write(Path.join(folder.blob(sha256("2")), "x"), "1")
        _ = try? Deletion(planner.plan, layout: cache.layout).run()
        #expect(!FileSystem.exists(folder.ref("main")))
        #expect(!FileSystem.exists(folder.snapshot(.of("a"))))
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
    }

    /// The plan of a revision beside another that stays, and of another repository.
    private func planned() throws -> (
        cache: HandmadeCache, folder: RepositoryFolder, other: RepositoryFolder, plan: DeletionPlan
    ) {
        let (cache, folder) = try two()
        let other = cache.repository("models--org--z")
        try cache.revision(.of("c"), [(sha1("5"), 50)], refs: ["main"], in: other)
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        for repository in state.repositories {
            let chosen = repository.revisions.filter { $0.commit != .of("b") }
            for revision in chosen { try planner.add(revision, of: repository, reason: "test") }
        }
        return (cache, folder, other, planner.plan)
    }

    /// One repository of another user must not keep a nightly job from all that comes after it.
    @Test func aRowThatFailsIsInNoOthersWayAndWhatWentIsCounted() throws {
        let (cache, folder, other, plan) = try planned()
        // Its last step, after the blobs: a folder cannot be unlinked by anybody.
        try FileSystem.remove(folder.tree(.of("a")))
        try cache.write(Path.join(folder.tree(.of("a")), "x"), "1")
        let outcome = Deletion(plan, layout: cache.layout).carryOut()
        #expect(outcome.failed.map(\.row) == [0] && outcome.done == [1])
        #expect(outcome.freedBytes == 250 && outcome.hasChanged)
        #expect(!FileSystem.exists(folder.blob(sha256("2"))) && !FileSystem.exists(other.path))
        #expect(throws: AIError.self) { try Deletion(plan, layout: cache.layout).run() }
    }

    @Test func aRowThatCannotBeMovedIntoTheTrashIsInNoOthersWay() throws {
        let (cache, folder, other, plan) = try planned()
        // Nothing is deleted through a link.
        try FileSystem.rename(folder.refs, to: cache.folder("refs"))
        try FileSystem.createSymlink(cache.folder("refs"), at: folder.refs)
        let trash = Trash(cache.layout)
        let outcome = try trash.take(plan, protection: Protection())
        #expect(outcome.failed.map(\.row) == [0] && outcome.done == [1])
        #expect(outcome.trashedBytes == 50 && outcome.freedBytes == 0)
        #expect(FileSystem.exists(folder.snapshot(.of("a"))) && !FileSystem.exists(other.path))
        #expect(try trash.entries().map(\.folder) == ["models--org--z"])
    }

    @Test func aPlanForWhatIsGoneAlreadyDoesNothing() throws {
        let (cache, folder) = try two()
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        try planner.add(state.repositories[0], reason: "test")
        try FileSystem.removeTree(folder.path)
        #expect(try Deletion(planner.plan, layout: cache.layout).run() == 0)
    }

    @Test func nothingIsPlannedTwice() throws {
        let (cache, _) = try two()
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        for _ in 0..<2 { try planner.add(state.repositories[0], reason: "test") }
        try planner.addOrphans(of: state.repositories[0])
        try planner.addPartials(of: state.repositories[0])
        #expect(planner.plan.rows.count == 2 && planner.plan.freedBytes == 213)
    }
}

/// The lock that Python takes.
@Suite struct FileLockTests {
    private func outcome(_ path: String) throws -> String {
        let attempt = try FileLock.attempt(path)
        switch consume attempt {
        case .taken: return "taken"
        case .held: return "held"
        case .unsupported: return "unsupported"
        }
    }

    @Test func theLockIsExclusiveAndItsFileStays() throws {
        let cache = try HandmadeCache()
        let path = cache.repository().lock(sha1("1"))
        #expect(try outcome(path) == "taken")
        #expect(try FileSystem.status(path)?.size == 0)
        let mode = try #require(try FileSystem.status(path)?.mode)
        #expect(mode & 0o664 == mode && mode & 0o600 == 0o600)
        let other = try FileDescriptor(path, [.write])
        #expect(try other.tryLock() == true)
        #expect(try outcome(path) == "held")
        other.unlock()
        #expect(try outcome(path) == "taken")
        #expect(FileSystem.exists(path))
    }

    /// Trap 25: a soft lock's text, of a file system without flock, is not ours to destroy.
    @Test func theLockFileIsNotTruncated() throws {
        let cache = try HandmadeCache()
        let path = try cache.write(cache.repository().lock(sha1("1")), "1234\nhost\n")
        #expect(try outcome(path) == "taken")
        #expect(try FileSystem.text(path) == "1234\nhost\n")
    }

    @Test func aLockFileThatIsALinkIsNotFollowed() throws {
        let cache = try HandmadeCache()
        let path = cache.repository().lock(sha1("1"))
        try FileSystem.createDirectories(Path.parent(path))
        try FileSystem.createSymlink(cache.folder("victim"), at: path)
        #expect(throws: AIError.self) { try outcome(path) }
        #expect(!FileSystem.exists(cache.folder("victim")))
    }
}
