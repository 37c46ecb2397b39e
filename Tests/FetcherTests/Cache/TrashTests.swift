@testable import Fetcher
import HubCore
import Support
import Testing

/// What a trash does at its edges: with a payload whose move was cut off, a manifest made up, a move that fails.
@Suite struct TrashTests {
    private let cache: HandmadeCache
    private let trash: Trash
    private let hash = String(repeating: "ab", count: 32)

    init() throws {
        cache = try HandmadeCache()
        trash = Trash(cache.layout)
    }

    private func entry(_ folder: String, _ moves: [String], isComplete: Bool = false) -> TrashEntry {
        TrashEntry(
            name: TrashEntry.newName(at: Timestamp.now), repository: nil, folder: folder, commit: nil, refs: [],
            what: "payload", size: 10, trashedAt: Timestamp.now,
            moves: zip(moves, moves.indices.reversed()).map { .init(from: $0, to: String($1)) }, payloads: [],
            isComplete: isComplete)
    }

    /// A payload gets its second name before it loses its own, and comes back with a manifest.
    @Test func aPayloadGoesIntoTheTrashAndComesBack() throws {
        try cache.makeStore()
        try cache.payload(hash, references: [])
        let before = try cache.listing().filter { !$0.key.hasSuffix(".refs") }
        var planner = DeletionPlanner(try cache.scan())
        planner.addUnusedPayloads()
        #expect(planner.plan.rows.count == 1)
        let outcome = try trash.take(planner.plan, protection: Protection())
        #expect(outcome.failed.isEmpty && outcome.trashedBytes == planner.plan.freedBytes)
        let payload = SharedStore(layout: cache.layout).payload(hash)
        #expect(!FileSystem.exists(payload) && !FileSystem.exists(payload + ".refs"))
        try trash.restore(try #require(try trash.entries().first))
        #expect(try cache.listing().filter { before[$0.key] != nil } == before)
        #expect(SharedStore(layout: cache.layout).references(hash) == [])
    }

    @Test(arguments: [
        ("/etc", "/etc/passwd"), ("..", "../x"), ("models--org--m", "models--org--n/refs"),
        ("models--org--m", "models--org--m/../x"), ("models--org--m/refs", "models--org--m/refs/main"),
        ("hub", "hub/x"), ("", "notes.txt"), ("", "blobs/ab/x"), ("models--org--m", "/models--org--m"),
    ])
    func aManifestNamesNothingOutsideOfItsRepository(folder: String, from: String) {
        let name = TrashEntry.newName(at: 1)
        #expect(TrashEntry(name: name, json: .object(entry(folder, [from]).json)) == nil)
        let good = entry("models--org--m", ["models--org--m/refs/main", "models--org--m"])
        #expect(TrashEntry(name: name, json: .object(good.json))?.moves == good.moves)
    }

    /// The cache itself is not a repository's folder.
    @Test func onlyARepositorysFolderIsRemovedAsOne() throws {
        try cache.write(Path.join(cache.layout.root, "notes.txt"), "mine")
        let before = try cache.listing()
        for name in ["", "notes", "models--org--m/.."] {
            var removal = RepositoryRemoval(folder: cache.repository(name))
            try removal.removeIfEmpty()
        }
        #expect(try cache.listing() == before)
    }

    /// Items moved before a failure can be restored, and every later run tries to move the rest.
    @Test func aMoveThatFailsIsTriedAgain() throws {
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        try trash.create()
        var cut = entry(
            folder.name, ["\(folder.name)/refs/main", "\(folder.name)/snapshots/\(Commit.of("a").hash)"])
        // A name that no file system takes.
        cut.moves.append(.init(from: "\(folder.name)/\(String(repeating: "x", count: 300))", to: "7"))
        cut.trashedAt += 100
        try trash.write(cut)
        for _ in 1...2 {
            #expect(trash.finish().count == 1)
            #expect(try trash.entries().map(\.isComplete) == [false])
        }
        cut.moves.removeLast()
        try trash.write(cut)
        #expect(trash.finish().isEmpty)
        #expect(try trash.entries().map(\.isComplete) == [true])
        try trash.restore(try #require(try trash.entries().first))
        #expect(FileSystem.exists(folder.ref("main")) && !FileSystem.exists(trash.path))
    }

    /// Where emptying deletes file by file, a killed one leaves a part. It is not given back as the whole.
    @Test func whatIsPartlyDeletedIsNotRestored() throws {
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        try trash.create()
        var part = entry(
            folder.name, ["\(folder.name)/refs/main", "\(folder.name)/snapshots/\(Commit.of("a").hash)"])
        part.isBeingDeleted = true
        try trash.write(part)
        let read = try #require(try trash.entries().first)
        #expect(throws: AIError.self) { try trash.restore(read) }
        _ = try trash.empty([read])
        #expect(!FileSystem.exists(trash.path))
    }

    /// Where folders are moved file by file, a killed restore leaves a part in each place. The next one moves the rest.
    @Test(arguments: [true, false]) func aRestoreThatWasKilledIsContinued(hasBegun: Bool) throws {
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10), (sha1("2"), 20)], refs: ["main"], in: folder)
        let before = try cache.listing()
        try trash.create()
        var part = entry(folder.name, [folder.name], isComplete: true)
        part.isBeingRestored = hasBegun
        try trash.write(part)
        let place = trash.place("0", of: part)
        try FileSystem.rename(folder.path, to: place)
        try FileSystem.createDirectories(folder.blobs)
        try FileSystem.rename("\(place)/blobs/\(sha1("1"))", to: folder.blob(sha1("1")))
        let read = try #require(try trash.entries().first)
        guard hasBegun else {
            _ = #expect(throws: AIError.self) { try trash.restore(read) }
            return
        }
        try trash.restore(read)
        #expect(try cache.listing() == before && !FileSystem.exists(trash.path))
    }

    /// A link in the place of a folder is left alone with all behind it.
    @Test(arguments: [".locks", ".locks/models--org--m"]) func noLinkIsFollowedToTheLastRemains(name: String) throws
    {
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        let kept = cache.folder("elsewhere/hub.deleted/kept")
        try cache.write(kept, "mine")
        try cache.write(cache.folder("elsewhere/models--org--m/hub.deleted/kept"), "mine")
        try FileSystem.createDirectories(Path.parent(Path.join(cache.layout.root, name)))
        try FileSystem.createSymlink(cache.folder("elsewhere"), at: Path.join(cache.layout.root, name))
        var removal = RepositoryRemoval(folder: folder)
        try removal.remove(.of("a"))
        #expect(!FileSystem.exists(folder.path) && FileSystem.exists(kept))
        #expect(FileSystem.exists(cache.folder("elsewhere/models--org--m/hub.deleted/kept")))
    }

    // MARK: What is there when something comes back

    /// An entry of one blob that a revision elsewhere needs no more.
    private func trashed(_ name: String, holding bytes: [UInt8]) throws -> TrashEntry {
        try FileSystem.createDirectories(cache.repository().blobs)
        try trash.create()
        let made = entry(
            cache.repository().name, ["\(cache.repository().name)/blobs/\(name)"], isComplete: true)
        try trash.write(made)
        try cache.write(trash.place("0", of: made), bytes)
        return made
    }

    /// Of one name and size the cache's stays; another size is refused.
    @Test func whatIsThereAlreadyStays() throws {
        let made = try trashed(sha1("1"), holding: [1, 2, 3])
        try cache.write(cache.repository().blob(sha1("1")), [1, 2])
        let before = try cache.listing()
        let fault = #expect(throws: AIError.self) { try trash.restore(made) }
        #expect(fault?.code == .invalidInput)
        #expect(try cache.listing() == before && trash.entries().map(\.name) == [made.name])
        try cache.write(cache.repository().blob(sha1("1")), [1, 2, 4])
        let now = try cache.listing()
        try trash.restore(made)
        #expect(try cache.listing() == now && !FileSystem.exists(trash.path))
    }

    /// Both lead to one payload of the shared store.
    @Test(arguments: [false, true]) func aLinkIntoTheStoreIsJudgedByItsPayload(isLost: Bool) throws {
        let folder = cache.repository()
        try cache.makeStore()
        try cache.payload(hash)
        try cache.share(sha256("1"), hash, in: folder)
        let link = try #require(FileSystem.linkText(folder.blob(sha256("1"))))
        try trash.create()
        let made = entry(folder.name, ["\(folder.name)/blobs/\(sha256("1"))"], isComplete: true)
        try trash.write(made)
        try FileSystem.createSymlink(link, at: trash.place("0", of: made))
        if isLost { try FileSystem.remove(SharedStore(layout: cache.layout).payload(hash)) }
        let before = try cache.listing()
        try trash.restore(made)
        #expect(try cache.listing() == before && !FileSystem.exists(trash.path))
    }

    /// What a partial was may have become a blob, and lists are made again.
    @Test func whatIsNoContentMayBeGone() throws {
        let folder = cache.repository()
        var made = try trashed("a.incomplete", holding: [1])
        made.moves += ["blobs/b.incomplete", "trees/x.json", ".no_exist/x"].enumerated().map {
            .init(from: "\(folder.name)/\($1)", to: String($0 + 1))
        }
        try trash.write(made)
        try trash.restore(made)
        #expect(try FileSystem.entries(folder.blobs) == ["a.incomplete"] && !FileSystem.exists(trash.path))
    }

    /// An interrupted restore continues with the rest.
    @Test func whatIsBackAlreadyIsNotGone() throws {
        let folder = cache.repository()
        try cache.revision(.of("a"), [(sha1("1"), 10)], refs: ["main"], in: folder)
        let before = try cache.listing()
        try trash.create()
        let made = entry(
            folder.name,
            ["refs/main", "snapshots/\(Commit.of("a").hash)", "blobs/\(sha1("1"))"].map { "\(folder.name)/\($0)" },
            isComplete: true)
        try trash.write(made)
        for move in made.moves.dropLast() {
            try FileSystem.rename(Path.join(cache.layout.root, move.from), to: trash.place(move.to, of: made))
        }
        try trash.restore(made)
        #expect(try cache.listing() == before && !FileSystem.exists(trash.path))
    }
}
