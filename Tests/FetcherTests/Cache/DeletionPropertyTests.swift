@testable import Fetcher
import HubCore
import Support
import Testing

/// Over random caches: what is planned, what is said to be freeable, what is freed, and what the disk says, are one
/// number; and whatever was not to go is as it was.
@Suite struct DeletionPropertyTests {
    /// A few dozen in every run of the tests, 1,000 by scripts/soak.
    private static let seeds = HubEnvironment.process["HUB_SOAK"] == nil ? 0..<60 : 0..<1000

    @Test(arguments: seeds)
    func whatIsFreedIsWhatWasSaidAndSurvivorsAreIntact(seed: Int) throws {
        var random = SeededRandom(number: seed)
        let cache = try RandomCache.make(&random)
        let before = try cache.scan()
        let contents = try Self.contents(before)
        let hidden = try PythonScan(cache.layout.root).hidden
        let files = try Self.measured(cache)

        // The figures of `hub ls` for each revision and repository equal those of a plan for it alone.
        var ledger = DeletionLedger(before)
        for repository in before.repositories {
            var whole = DeletionPlanner(before, now: Timestamp.now + 7200)
            try whole.add(repository, reason: "test")
            #expect(
                ledger.freedBytes(repository.revisions, of: repository) == whole.plan.freedBytes,
                "\(repository.folder.name)")
            for revision in repository.revisions {
                var alone = DeletionPlanner(before, now: Timestamp.now + 7200)
                try alone.add(revision, of: repository, reason: "test")
                #expect(
                    ledger.freedBytes([revision], of: repository) == alone.plan.freedBytes,
                    "\(repository.folder.name) \(revision.commit.short)")
            }
        }

        // Some of it all goes, in any order.
        var planner = DeletionPlanner(before, now: Timestamp.now + 7200)
        var doomed: Set<String> = []
        let all = before.repositories.flatMap { repository in repository.revisions.map { (repository, $0) } }
        for (repository, revision) in all.shuffled(using: &random) where random.next() % 3 == 0 {
            try planner.add(revision, of: repository, reason: "test")
            doomed.insert("\(repository.folder.name)/\(revision.commit)")
        }
        // Some files of what stays.
        var doomedFiles: Set<String> = []
        for (repository, revision) in all where random.one(in: 4) {
            let key = "\(repository.folder.name)/\(revision.commit)"
            let paths = Set(revision.files.map(\.path).filter { _ in random.one(in: 2) })
            guard !doomed.contains(key), !paths.isEmpty else { continue }
            try planner.add(files: paths, of: revision, repository, reason: "test")
            if paths.count == revision.files.count { doomed.insert(key) }
            doomedFiles.formUnion(paths.map { "\(key)/\($0)" })
        }
        for repository in before.repositories {
            if random.next() % 3 == 0 { try planner.addOrphans(of: repository) }
            if random.next() % 3 == 0 { try planner.addPartials(of: repository) }
        }
        if random.next() % 2 == 0 { planner.addUnusedPayloads() }
        #expect(planner.plan.protected.isEmpty)
        let freed = try Deletion(planner.plan, layout: cache.layout).run()
        #expect(freed == planner.plan.freedBytes)

        let left = try Self.measured(cache)
        let gone = files.filter { left[$0.key] == nil }.values.reduce(0, +)
        #expect(freed == gone, "what the file system has back")

        // Survivors are intact, the doomed are gone, and Python has nothing new to complain of.
        let after = try cache.scan()
        let remaining = try Self.contents(after)
        for (key, value) in contents {
            let revision = key.split(separator: "/").prefix(2).joined(separator: "/")
            let expected = doomed.contains(revision) || doomedFiles.contains(key) ? nil : value
            #expect(remaining[key] == expected, "\(key)")
        }
        #expect(remaining.keys.allSatisfy { contents[$0] != nil })
        #expect(try PythonScan(cache.layout.root).hidden.subtracting(hidden).isEmpty)
        #expect(try FileSystem.text(cache.folder("outside/kept.bin")) == "kept")
        #expect(try FileSystem.entries(cache.folder.path) == ["hub", "outside"])
    }

    /// Every file of every revision with its bytes' digest, as a reader finds it; "broken" for a link to nothing.
    private static func contents(_ state: CacheState) throws -> [String: String] {
        var out: [String: String] = [:]
        for repository in state.repositories {
            for revision in repository.revisions {
                for file in revision.files {
                    let path = Path.join(repository.folder.snapshot(revision.commit), file.path)
                    out["\(repository.folder.name)/\(revision.commit)/\(file.path)"] =
                        try FileSystem.contents(path).map { ContentHasher.digest(of: $0, like: .sha256("")).hex }
                        ?? "broken"
                }
            }
        }
        return out
    }

    /// The size of each inode that blobs, snapshots, payloads and the folder outside name.
    private static func measured(_ cache: HandmadeCache) throws -> [PhysicalFile.Identity: Int64] {
        var out: [PhysicalFile.Identity: Int64] = [:]
        func visit(_ path: String, counts: Bool) throws {
            for name in try FileSystem.entries(path) ?? [] {
                let child = Path.join(path, name)
                guard let status = try FileSystem.linkStatus(child) else { continue }
                if status.kind == .directory {
                    try visit(child, counts: counts || ["blobs", "snapshots", "outside"].contains(name))
                } else if status.kind == .file, counts, ![".refs", ".lock"].contains(where: name.hasSuffix),
                    name != HandmadeCache.marker, name != ".DS_Store"
                {
                    out[PhysicalFile(status).identity] = status.size
                }
            }
        }
        try visit(cache.folder.path, counts: false)
        return out
    }
}

/// Caches in which everything occurs that real ones hold.
enum RandomCache {
    static func make(_ random: inout SeededRandom) throws -> HandmadeCache {
        let cache = try HandmadeCache()
        try cache.folder.write("outside/kept.bin", "kept")
        let hasStore = !random.one(in: 3)
        var payloads: [String] = []
        if hasStore {
            try cache.makeStore()
            for digit in "0123".prefix(Int(random.next() % 5)) {
                let hash = String(repeating: digit, count: 64)
                try cache.payload(hash, size: Int(random.next() % 3000), references: random.one(in: 8) ? nil : [])
                payloads.append(hash)
            }
        }
        var linkable: [String] = []
        let names = ["models--org--m", "models--gpt2", "datasets--org--m", "kernels--k--k"].prefix(
            Int(2 + random.next() % 3))
        for name in names {
            let folder = cache.repository(name)
            let isPlain = random.one(in: 4)
            try FileSystem.createDirectories(folder.blobs)
            let etags = try blobs(cache, folder, payloads, &linkable, &random)
            for digit in "abc".prefix(Int(1 + random.next() % 3)) {
                let commit = Commit.of(digit)
                try FileSystem.createDirectories(folder.snapshot(commit))
                for number in 0..<(random.next() % 6) {
                    let path = ["f\(number).bin", "sub/f\(number).bin", "sub/dir/f\(number).json"].randomElement(
                        using: &random)!
                    if isPlain || random.one(in: 6) {
                        try plain(Path.join(folder.snapshot(commit), path), cache, &linkable, &random)
                    } else if let etag = etags.randomElement(using: &random),
                        try FileSystem.linkStatus(Path.join(folder.snapshot(commit), path)) == nil
                    {
                        try cache.link(path, to: etag, at: commit, in: folder)
                    }
                }
                if random.one(in: 8) { try cache.link("broken.bin", to: sha1("e"), at: commit, in: folder) }
                for ref in ["main", "v1", "refs/pr/1", "feature/x"] where random.one(in: 3) {
                    try cache.ref(ref, commit, in: folder)
                }
                if random.one(in: 2) { try cache.write(folder.tree(commit), "{}") }
                if random.one(in: 3) { try cache.write(Path.join(folder.missing, commit.hash + "/x")) }
            }
            if random.one(in: 8) { try cache.ref("dangling", .of("f"), in: folder) }
            if random.one(in: 6) { try cache.write(Path.join(folder.snapshots, ".DS_Store"), "litter") }
            // A user's copy of a revision is no revision, but needs its blobs.
            if random.one(in: 5), let etag = etags.randomElement(using: &random) {
                let copy = Path.join(folder.snapshots, "my-copy")
                try FileSystem.createDirectories(copy)
                try FileSystem.createSymlink("../../blobs/\(etag)", at: Path.join(copy, "w.bin"))
                try cache.write(Path.join(copy, "notes.txt"), "mine")
            }
            for partial in [".hub.incomplete", ".hub.map.incomplete", ".incomplete", ".0a1b2c3d.tmp"]
            where random.one(in: 5) {
                try cache.blob(sha256("d") + partial, size: Int(random.next() % 700), in: folder)
            }
        }
        return cache
    }

    /// Blobs of a repository: own files, hard links from elsewhere, links into the store.
    private static func blobs(
        _ cache: HandmadeCache, _ folder: RepositoryFolder, _ payloads: [String], _ linkable: inout [String],
        _ random: inout SeededRandom
    ) throws -> [String] {
        var etags: [String] = []
        for digit in "123456789".prefix(Int(random.next() % 9)) {
            let etag = random.one(in: 2) ? sha1(digit) : sha256(digit)
            if let payload = payloads.randomElement(using: &random), random.one(in: 3) {
                try cache.share(etag, payload, in: folder)
            } else if let source = linkable.randomElement(using: &random), random.one(in: 4) {
                try FileSystem.createHardLink(source, at: folder.blob(etag))
            } else {
                linkable.append(try cache.blob(etag, size: Int(random.next() % 2000), in: folder))
                // A name outside the cache.
                if random.one(in: 8) {
                    try FileSystem.createHardLink(
                        folder.blob(etag), at: cache.folder("outside/\(folder.name)-\(etag)"))
                }
            }
            etags.append(etag)
        }
        return etags
    }

    private static func plain(
        _ path: String, _ cache: HandmadeCache, _ linkable: inout [String], _ random: inout SeededRandom
    ) throws {
        if let source = linkable.randomElement(using: &random), random.one(in: 3), !FileSystem.exists(path) {
            try FileSystem.createDirectories(Path.parent(path))
            try FileSystem.createHardLink(source, at: path)
        } else if !FileSystem.exists(path) {
            linkable.append(try cache.write(path, ModelRepository.randomBytes(Int(random.next() % 900), seed: 7)))
        }
    }
}
