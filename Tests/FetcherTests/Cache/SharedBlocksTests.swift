#if os(Linux)
@testable import Fetcher
import HubCore
import Support
import Testing

/// What hub says is freed is what the disk has back, where files share blocks or names with others.
@Suite struct SharedBlocksTests {
    private static let size = 6 << 20

    /// A cache with a model whose weights another program has too, one with half of them, two models that share a blob, and
    /// one whose blob has a name outside.
    private static func cache(on disk: String?, clones: Bool) throws -> HandmadeCache {
        let cache = try HandmadeCache(in: disk)
        let models: [(name: String, etags: String)] = [("a", "1"), ("b", "23"), ("c", "4"), ("d", "5"), ("e", "6")]
        for (index, model) in models.enumerated() {
            let folder = cache.repository("models--org--\(model.name)")
            for (number, digit) in model.etags.enumerated() {
                try cache.write(
                    folder.blob(sha256(digit)), ModelRepository.randomBytes(size, seed: UInt64(10 * index + number))
                )
            }
            let commit = Commit.of(model.name.first!)
            try cache.revision(commit, model.etags.map { (sha256($0), 0) }, refs: ["main"], in: folder)
            let blob = folder.blob(sha256(model.etags.first!))
            let outside = cache.folder("outside-\(model.name)")
            switch model.name {
            case "a", "b": try share(blob, outside, clones)
            case "e": try FileSystem.createHardLink(blob, at: outside)
            default: break
            }
        }
        let (c, d) = (cache.repository("models--org--c"), cache.repository("models--org--d"))
        try FileSystem.remove(d.blob(sha256("5")))
        try share(c.blob(sha256("4")), d.blob(sha256("5")), clones)
        // The order of use.
        for (age, name) in ["a", "b", "c", "d", "e"].enumerated() {
            let folder = cache.repository("models--org--\(name)")
            for etag in try FileSystem.entries(folder.blobs) ?? [] {
                let time = 1e9 + Double(age) * 1e5
                try FileSystem.setTimes(folder.blob(etag), accessed: time, modified: time)
            }
        }
        return cache
    }

    private static func share(_ source: String, _ other: String, _ clones: Bool) throws {
        guard clones else { return try FileSystem.createHardLink(source, at: other) }
        let from = try FileDescriptor(source)
        let made = try FileDescriptor(other, [.write, .create]).reflink(from: from)
        try #require(made)
    }

    private static func state(_ cache: HandmadeCache, _ names: String) throws -> (CacheState, DeletionPlan) {
        let state = try cache.scan()
        var planner = DeletionPlanner(state)
        for repository in state.repositories where names.contains(repository.folder.name.last!) {
            try planner.add(repository, reason: "test")
        }
        return (state, planner.plan)
    }

    private static func rule(_ cache: HandmadeCache, _ set: (inout DeletionPolicy) -> Void) throws -> DeletionPlan {
        var policy = DeletionPolicy()
        set(&policy)
        return try policy.plan(with: DeletionPlanner(cache.scan()), now: Timestamp.now, diskFree: 0)
    }

    @Test(arguments: ["", "btrfs", "xfs"]) func whatIsSaidToBeFreedLeavesTheDisk(kind: String) async throws {
        let folder = try TemporaryFolder("disks")
        var disk: SmallDisk?
        if !kind.isEmpty {
            disk = try await SmallDisk(folder, kind, size: 512 << 20)
            if disk == nil { try Test.cancel("\(kind) cannot be mounted here") }
        }
        do { try await check(disk, clones: !kind.isEmpty) } catch {
            try await disk?.unmount()
            throw error
        }
        try await disk?.unmount()
    }

    private func check(_ disk: SmallDisk?, clones: Bool) async throws {
        let cache = try Self.cache(on: disk?.path, clones: clones)
        let size = Int64(Self.size)
        // What lists, the screen and plans say of each.
        let expected: [String: Int64] = ["a": 0, "b": size, "c": 0, "d": 0, "e": 0, "cd": size, "abcde": 2 * size]
        let inventory = try CacheInventory(cache.scan(), now: Timestamp.now)
        let overview = try CacheScanner(cache.layout, catalog: nil).overview()
        for (names, bytes) in expected {
            let (state, plan) = try Self.state(cache, names)
            #expect(plan.freedBytes == bytes, "\(names)")
            guard names.count == 1 else { continue }
            let listed = overview.repositories.first { $0.folder.name.hasSuffix(names) }
            #expect(listed?.freeable == bytes && listed?.revisions.map(\.freeable) == [bytes], "ls: \(names)")
            let item = inventory.items.first { $0.repository?.description.hasSuffix(names) == true }
            #expect(item?.freedAlone == bytes, "gc: \(names)")
            #expect(try state.reclaimable(besides: Protection()) == 2 * size)
        }
        // A target is reached without what frees nothing, and not reached where nothing is left.
        let free = try Self.rule(cache) { $0.free = size }
        #expect(free.rows.compactMap(\.folder?.name) == ["models--org--b"] && free.unreached.isEmpty)
        let more = try Self.rule(cache) { $0.free = 2 * size }
        #expect(more.rows.compactMap(\.folder?.name.last) == ["b", "c", "d"] && more.unreached.isEmpty)
        let most = try Self.rule(cache) { $0.free = 3 * size }
        #expect(most.unreached == [.free(wanted: 3 * size, now: 0)] && most.freedBytes == 2 * size)
        let small = try Self.rule(cache) { $0.maxSize = 0 }
        #expect(small.rows.count == 3 && !small.unreached.isEmpty)
        // What is deleted is what was said, and what the disk has back.
        for names in ["a", "b", "cd"] {
            let (_, plan) = try Self.state(cache, names)
            let before = try await disk?.used()
            let freed = try Deletion(plan, layout: cache.layout).run()
            #expect(freed == expected[names], "\(names)")
            guard let before, let after = try await disk?.used() else { continue }
            #expect(abs(before - after - freed) < size / 2, "\(names): \(before - after) left the disk")
        }
    }

    @Test func theTrashFreesWhatNobodySharesAndSaysSo() async throws {
        let folder = try TemporaryFolder("disks")
        guard let disk = try await SmallDisk(folder, "btrfs", size: 512 << 20) else {
            try Test.cancel("btrfs cannot be mounted here")
        }
        do {
            let cache = try Self.cache(on: disk.path, clones: true)
            let trash = Trash(cache.layout)
            for (names, bytes) in [("a", 0), ("c", 0), ("d", Int64(Self.size))] {
                let (_, plan) = try Self.state(cache, names)
                let outcome = try trash.take(plan, protection: Protection())
                #expect(outcome.failed.isEmpty && outcome.trashedBytes == 0, "\(names)")
                #expect(try trash.entries().reduce(0) { $0 + $1.size } == bytes, "\(names)")
            }
            let entries = try trash.entries()
            #expect(try trash.empty(entries).size == Int64(Self.size))
        } catch {
            try await disk.unmount()
            throw error
        }
        try await disk.unmount()
    }
}
#endif
