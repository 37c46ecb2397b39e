@testable import Fetcher
import HubCore
import Support
import Testing

/// A payload of the shared store goes when, and only when, the last repository that links to it lets go.
@Suite struct SharedStoreSweepTests {
    private let hash = "ab" + String(repeating: "c", count: 62)

    private func cache(_ names: [String]) throws -> HandmadeCache {
        let cache = try HandmadeCache()
        try cache.makeStore()
        try cache.payload(hash, size: 1000)
        for name in names {
            let folder = cache.repository(name)
            try cache.share(sha256("1"), hash, in: folder)
            try cache.link("w.bin", to: sha256("1"), at: .of("a"), in: folder)
            try cache.ref("main", .of("a"), in: folder)
        }
        return cache
    }

    private func delete(_ name: String, in cache: HandmadeCache) throws -> (planned: Int64, freed: Int64) {
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        let repository = try #require(state.repositories.first { $0.folder.name == name })
        try planner.add(repository, reason: "test")
        return (planner.plan.freedBytes, try Deletion(planner.plan, layout: cache.layout).run())
    }

    /// Trap 7: the repository's link goes, and the payload with the last of them.
    @Test func theFirstOfTwoSharersFreesNothingAndTheSecondEverything() throws {
        let cache = try cache(["models--org--m", "models--org--n"])
        let payload = SharedStore(layout: cache.layout).payload(hash)
        #expect(try delete("models--org--m", in: cache) == (0, 0))
        #expect(try FileSystem.text(payload + ".refs") == "models--org--n/blobs/\(sha256("1"))\n")
        #expect(try FileSystem.status(payload)?.size == 1000)
        #expect(try delete("models--org--n", in: cache) == (1000, 1000))
        #expect(try FileSystem.entries(Path.parent(payload)) == [hash + ".lock"])
        #expect(SharedStore(layout: cache.layout).exists(), "the store's marker stays")
        #expect(try PythonScan(cache.layout.root).warnings.isEmpty)
    }

    /// Other users of a shared cache take the same lock and add to the same manifest.
    @Test func lockAndManifestStayWritableForAll() throws {
        let cache = try cache(["models--org--m", "models--org--n"])
        let payload = SharedStore(layout: cache.layout).payload(hash)
        try FileSystem.remove(payload + ".lock")
        _ = try delete("models--org--m", in: cache)
        #expect(try FileSystem.status(payload + ".refs")?.mode == 0o666)
        #expect(try FileSystem.status(payload + ".lock")?.mode == 0o666)
    }

    @Test func aPayloadWithoutAManifestIsNeverDeleted() throws {
        let cache = try cache(["models--org--m"])
        let payload = SharedStore(layout: cache.layout).payload(hash)
        try FileSystem.remove(payload + ".refs")
        let state = try cache.scan()
        let repository = state.repositories[0]
        var ledger = DeletionLedger(state)
        #expect(ledger.freedBytes(repository.revisions, of: repository) == 0)
        #expect(try delete("models--org--m", in: cache) == (0, 0))
        #expect(FileSystem.exists(payload))
        var tally = FreedTally()
        try SharedStore(layout: cache.layout).remove(unused: hash, &tally)
        #expect(tally.freed.size == 0)
        #expect(FileSystem.exists(payload))
    }

    @Test func aManifestThatIsALinkIsNotBelieved() throws {
        let cache = try cache(["models--org--m"])
        let payload = SharedStore(layout: cache.layout).payload(hash)
        try FileSystem.remove(payload + ".refs")
        let elsewhere = try cache.folder.write("empty", "")
        try FileSystem.createSymlink(elsewhere, at: payload + ".refs")
        #expect(try delete("models--org--m", in: cache) == (0, 0))
        #expect(FileSystem.exists(payload))
    }

    /// A folder with an invalid name still belongs to Python, and its link still needs the payload.
    @Test func aSharerWithAForeignNameKeepsThePayload() throws {
        let cache = try cache(["models--org--m", "models--a--b--c"])
        #expect(try delete("models--org--m", in: cache) == (0, 0))
        #expect(FileSystem.exists(SharedStore(layout: cache.layout).payload(hash)))
    }

    /// Trap 7: the manifest is swept under the payload's lock only.
    @Test func aPayloadThatIsLockedStays() throws {
        let cache = try cache(["models--org--m"])
        let payload = SharedStore(layout: cache.layout).payload(hash)
        let lock = try FileDescriptor(payload + ".lock", [.write])
        #expect(try lock.tryLock() == true)
        #expect(try delete("models--org--m", in: cache).freed == 0)
        #expect(FileSystem.exists(payload))
        lock.unlock()
        var tally = FreedTally()
        try SharedStore(layout: cache.layout).remove(unused: hash, &tally)
        #expect(tally.freed.size == 1000)
    }

    @Test func aLinkIntoAStoreThatIsGoneCanBeDeleted() throws {
        let cache = try cache(["models--org--m"])
        try FileSystem.removeTree(Path.join(cache.layout.sharedStore, "ab"))
        #expect(try delete("models--org--m", in: cache) == (0, 0))
        #expect(!FileSystem.exists(cache.repository().path))
    }

    @Test func gcTakesAPayloadThatNobodyLinksTo() throws {
        let cache = try cache(["models--org--m"])
        let other = "cd" + String(repeating: "e", count: 62)
        try cache.payload(other, size: 77)
        let unmanaged = "ef" + String(repeating: "0", count: 62)
        try cache.payload(unmanaged, size: 5, references: nil)
        try FileSystem.removeTree(cache.repository().path)
        var policy = DeletionPolicy()
        policy.orphans = true
        let plan = try policy.plan(for: try cache.scan(), now: Timestamp.now, diskFree: 0)
        #expect(plan.freedBytes == 1077)
        #expect(try Deletion(plan, layout: cache.layout).run() == 1077)
        #expect(FileSystem.exists(SharedStore(layout: cache.layout).payload(unmanaged)))
    }

    /// Trap 8: a payload belongs to everybody who links to it.
    @Test func thePayloadIsNotWrittenToOrChanged() throws {
        let cache = try cache(["models--org--m", "models--org--n"])
        let payload = SharedStore(layout: cache.layout).payload(hash)
        try FileDescriptor(payload).setMode(0o444)
        let before = try FileSystem.status(payload)
        _ = try delete("models--org--m", in: cache)
        let after = try FileSystem.status(payload)
        #expect(before?.modifiedNanoseconds == after?.modifiedNanoseconds && after?.mode == 0o444)
        #expect(before?.inode == after?.inode)
    }
}
