import Catalog
@testable import Fetcher
import HubCore
import Support
import Testing

/// Over random caches: what is counted step by step, as marks come and go, is what the plan of the same choice says.
@Suite struct CacheInventoryTests {
    @Test(arguments: 0..<60) func everyChoiceFreesWhatItsPlanSays(seed: Int) throws {
        var random = SeededRandom(number: seed)
        let cache = try RandomCache.make(&random)
        let now = Timestamp.now + 7200
        let inventory = try CacheInventory(
            cache.scan(), now: now)
        var ledger = inventory.ledger
        #expect(ledger.freedBytes == 0)
        for (index, item) in inventory.items.enumerated() {
            #expect(item.freedAlone == (try inventory.plan([index], now: now).freedBytes), "\(item)")
            guard case .revision(let revision) = item.subject, let place = item.place else { continue }
            let repository = inventory.state.repositories[place]
            var other = DeletionLedger(inventory.state)
            #expect(item.freedAlone == other.freedBytes([repository.revisions[revision]], of: repository))
        }
        let needed = ledger.neededBytes
        #expect(needed == inventory.state.totalSize)
        var chosen: Set<Int> = []
        func toggle(_ index: Int) {
            let isChosen = chosen.insert(index).inserted
            if !isChosen { chosen.remove(index) }
            ledger.take(inventory.items[index].choice, back: !isChosen)
        }
        for _ in 0..<40 {
            guard let index = inventory.items.indices.randomElement(using: &random) else { break }
            toggle(index)
            if random.one(in: 4) {
                let plan = try inventory.plan(chosen.sorted(), now: now)
                #expect(ledger.freedBytes == plan.freedBytes && ledger.freed.allocated == plan.allocatedBytes)
                // What a target counts is what is left for revisions.
                var rest = inventory.state
                for (place, repository) in inventory.state.repositories.enumerated() {
                    rest.repositories[place].revisions = repository.revisions.indices.filter { revision in
                        !chosen.contains {
                            inventory.items[$0].subject == .revision(revision) && inventory.items[$0].place == place
                        }
                    }.map { repository.revisions[$0] }
                }
                #expect(ledger.neededBytes == rest.totalSize)
            }
        }
        for index in chosen { toggle(index) }
        #expect(ledger.freed == FreedBytes() && ledger.neededBytes == needed)
    }

    @Test func whatIsBeingWrittenCannotBeChosen() throws {
        let cache = try HandmadeCache()
        let folder = cache.repository()
        try cache.revision(.of("1"), [(sha256("1"), 10), (sha256("2"), 20)], refs: ["main"], in: folder)
        try cache.revision(.of("2"), [(sha256("2"), 20), (sha256("3"), 30)], in: folder)
        try cache.blob(sha256("4") + ".hub.incomplete", size: 5, in: folder)
        try cache.blob(sha256("5") + ".incomplete", size: 6, in: folder)
        func inventory(at now: Double) throws -> [CacheItem] {
            try CacheInventory(
                cache.scan(),
                protection: Protection(pins: [Pin(folder: folder.name, commit: .of("1"), note: nil, pinnedAt: 1)]),
                now: now
            ).items
        }
        let free = try inventory(at: Timestamp.now + 7200)
        #expect(free.map(\.obstacle) == [nil, nil, nil])
        #expect(free.map(\.isPinned) == [true, false, false] && free.map(\.isDetached) == [false, true, false])
        #expect(free.map(\.size) == [30, 50, 11] && free.map(\.freedAlone) == [10, 30, 11])
        // Another client's partial is left alone for an hour.
        #expect(try inventory(at: Timestamp.now).map(\.freedAlone) == [10, 30, 5])
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(sha256("3")), [.write, .create])
        #expect(try lock.tryLock() == true)
        #expect(
            try inventory(at: Timestamp.now).map { $0.obstacle?.text } == [
                nil, "in use: 333333333333 is being downloaded", nil,
            ])
        lock.unlock()
    }

    @Test func ofXetsFolderOnlyTheCachesGo() throws {
        let folder = try TemporaryFolder("xet")
        let old = Timestamp.now - 7200
        for name in ["s/chunk_cache/ab/c0", "s/shard-cache/x", "s/staging/upload", "s/other/y", "logs/z"] {
            let path = try folder.write("xet/\(name)", "12345")
            try FileSystem.setTimes(path, accessed: old, modified: old)
        }
        try FileSystem.createSymlink(folder("xet/s/other"), at: folder("xet/link"))
        let xet = XetFolder(path: folder("xet"))
        let removable = try xet.removable()
        #expect(removable.size == 10)
        #expect(
            removable.entries.map { $0.path.dropFirst(folder("xet/s/").utf8.count) } == [
                "chunk_cache/ab/c0", "chunk_cache/ab", "chunk_cache", "shard-cache/x", "shard-cache",
            ])
        #expect(try xet.sweep(now: old + 60) == 0)
        #expect(try xet.sweep(now: Timestamp.now) == 10)
        #expect(try FileSystem.entries(folder("xet/s"))?.sorted() == ["other", "staging"])
        #expect(try FileSystem.text(folder("xet/s/staging/upload")) == "12345")
        #expect(try FileSystem.text(folder("xet/link/y")) == "12345")
        #expect(try XetFolder(path: folder("none")).removable().isEmpty)
    }
}
