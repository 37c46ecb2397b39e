import Catalog
@testable import Fetcher
import HubCore
import Support
import Testing

/// A scan that trusts the catalog says the same as one that reads everything, whatever has changed.
@Suite struct IncrementalScanTests {
    private struct Place {
        let cache: HandmadeCache
        let catalog: Catalog
        let state: TemporaryFolder

        init() throws {
            cache = try HandmadeCache()
            state = try TemporaryFolder("state")
            catalog = try Catalog(path: state("catalog.sqlite3"))
        }

        /// Sets the times of every folder and ref back, as if nothing had been touched for an hour: only then is a scan trusted.
        func settle() throws {
            func visit(_ path: String) throws {
                for name in try FileSystem.entries(path) ?? [] {
                    let child = Path.join(path, name)
                    guard let kind = try FileSystem.linkStatus(child)?.kind, kind != .symlink else { continue }
                    if kind == .directory { try visit(child) }
                    // Refs are watched too.
                    if kind == .file, Path.name(path) == "blobs" { continue }
                    let time = Timestamp.now - 3600
                    try FileSystem.setTimes(child, accessed: time, modified: time)
                }
            }
            try visit(cache.layout.root)
        }

        /// Scans twice with the catalog: what it then says, and what the disk says.
        func check(_ comment: Comment? = nil, _ location: SourceLocation = #_sourceLocation) throws {
            let scanner = CacheScanner(cache.layout, catalog: catalog)
            let known = try scanner.scan()
            let fresh = try scanner.scan(fresh: true)
            #expect(summary(known) == summary(fresh), comment, sourceLocation: location)
            // A list shows the sums over that, from any source.
            #expect(list(try scanner.overview()) == list(fresh), comment, sourceLocation: location)
        }

        /// What a list shows of a scan.
        private func list(_ state: CacheState) -> [String] {
            var ledger = DeletionLedger(state)
            return state.repositories.map { repository in
                let revisions = repository.revisions.map { revision in
                    let size = repository.physicalFiles(of: revision).values.reduce(0) { $0 + $1.size }
                    return
                        "\(revision.commit) \(revision.refs) \(size) \(ledger.freedBytes([revision], of: repository)) "
                        + "\(String(describing: revision.isComplete)) \(revision.downloadedAt) \(revision.lastUsedAt)"
                }
                return
                    "\(repository.repository) \(repository.size) \(ledger.freedBytes(repository.revisions, of: repository)) "
                    + "\(repository.physicalFiles.count) \(revisions) \(repository.partials) "
                    + "\(repository.danglingRefs)"
            } + [
                "\(state.totalSize) \(state.partialSize) \(state.otherSize)", "\(state.remarks.sorted())",
                "\(state.keepsAccessTimes)",
            ]
        }

        /// What a list shows.
        private func list(_ overview: CacheOverview) -> [String] {
            overview.repositories.map { repository in
                let revisions = repository.revisions.map { revision in
                    "\(revision.commit) \(revision.refs) \(revision.size) \(revision.freeable) "
                        + "\(String(describing: revision.isComplete)) \(revision.downloadedAt) \(revision.lastUsedAt ?? -1)"
                }
                return "\(repository.repository) \(repository.size) \(repository.freeable) \(repository.files) "
                    + "\(revisions) \(repository.partials) \(repository.danglingRefs)"
            } + [
                "\(overview.totalSize) \(overview.partialSize) \(overview.otherSize)",
                "\(overview.remarks.sorted())", "\(overview.keepsAccessTimes)",
            ]
        }

        func summary(_ state: CacheState) -> [String] {
            var ledger = DeletionLedger(state)
            var out = state.repositories.map { repository in
                "\(repository.repository) frees \(ledger.freedBytes(repository.revisions, of: repository)): \(repository.revisions) "
                    + "\(repository.blobs.sorted { $0.key < $1.key }) \(repository.partials) \(repository.danglingRefs)"
            }
            out += state.remarks.sorted()
            return out + ["\(state.unusedPayloads)", "\(state.totalSize) \(state.otherSize)"]
        }

        func remember() throws {
            try settle()
            _ = try CacheScanner(cache.layout, catalog: catalog).scan()
        }
    }

    private func filled() throws -> Place {
        let place = try Place()
        let cache = place.cache
        let folder = cache.repository()
        try cache.revision(
            .of("a"), [(sha1("1"), 3), (sha256("2"), 300)], refs: ["main", "refs/pr/1"], in: folder)
        try cache.link("sub/dir/deep.bin", to: sha256("2"), at: .of("a"), in: folder)
        try cache.revision(.of("b"), [(sha1("1"), 3)], in: folder)
        try cache.revision(.of("a"), [(sha256("5"), 50)], refs: ["main"], in: cache.repository("datasets--d--d"))
        try cache.blob("\(sha1("7")).hub.incomplete", size: 70, in: folder)
        try place.remember()
        return place
    }

    private func summaries(_ place: Place) throws -> [String: [UInt8]] {
        var summaries: [String: [UInt8]] = [:]
        try place.catalog.scans(ofCache: place.cache.layout.root) { summaries[$0] = Array($1) }
        return summaries
    }

    @Test func nothingIsReadAgainWhereNothingChanged() throws {
        let place = try filled()
        try place.check()
        // A wrong value that only a disk scan would detect: the catalog is trusted.
        let (root, folder) = (place.cache.layout.root, "datasets--d--d")
        func changed(_ bytes: [UInt8]?) throws -> [UInt8] {
            var bytes = try #require(bytes)
            // Two digits to a byte.
            for index in bytes.indices where bytes[index...].starts(with: [UInt8](repeating: 0x55, count: 32)) {
                bytes.replaceSubrange(index..<index + 32, with: [UInt8](repeating: 0x66, count: 32))
            }
            return bytes
        }
        let lie = RememberedScan(
            folder: folder, summary: try #require(try summaries(place)[folder]),
            details: try changed(try place.catalog.scanDetails(ofCache: root)[folder]))
        try place.catalog.remember(scans: [lie], gone: [], ofCache: root)
        let state = try CacheScanner(place.cache.layout, catalog: place.catalog).scan()
        #expect(state.repositories.first?.blobs.keys.sorted() == [sha256("6")])
        let fresh = try CacheScanner(place.cache.layout, catalog: place.catalog).scan(fresh: true)
        #expect(fresh.repositories.first?.blobs.keys.sorted() == [sha256("5")])
    }

    private static let changes: [(String, @Sendable (HandmadeCache, RepositoryFolder) throws -> Void)] = [
        ("a new ref", { try $0.ref("v2", .of("b"), in: $1) }),
        ("a ref that moved", { _, folder in try folder.writeRef("main", .of("b")) }),
        ("a nested ref that moved", { _, folder in try folder.writeRef("refs/pr/1", .of("b")) }),
        ("a ref that went", { _, folder in try FileSystem.remove(folder.ref("refs/pr/1")) }),
        ("a new blob", { try $0.blob(sha1("9"), in: $1) }),
        ("a blob that went", { _, folder in try FileSystem.remove(folder.blob(sha256("2"))) }),
        ("a new snapshot", { try $0.revision(.of("c"), [(sha1("1"), 3)], in: $1) }),
        ("a snapshot that went", { _, folder in try FileSystem.removeTree(folder.snapshot(.of("b"))) }),
        ("a file in a snapshot", { try $0.link("new.bin", to: sha1("1"), at: .of("a"), in: $1) }),
        ("a file in a nested folder", { try $0.link("sub/dir/new.bin", to: sha1("1"), at: .of("a"), in: $1) }),
        (
            "a nested file that went",
            { _, folder in
                try FileSystem.remove(Path.join(folder.snapshot(.of("a")), "sub/dir/deep.bin"))
            }
        ),
        (
            "a tree",
            { _, folder in
                try folder.writeTree(RepositoryTree(commit: .of("a"), files: []))
            }
        ),
        (
            "a partial that grew",
            { cache, folder in
                try cache.write(folder.blob("\(sha1("7")).hub.incomplete"), [UInt8](repeating: 0, count: 700))
            }
        ),
        ("a partial that went", { _, folder in try FileSystem.remove(folder.blob("\(sha1("7")).hub.incomplete")) }),
        ("a repository that went", { _, folder in try FileSystem.removeTree(folder.path) }),
        (
            "a new repository",
            { cache, _ in
                try cache.revision(.of("a"), [(sha1("1"), 3)], in: cache.repository("models--new--new"))
            }
        ),
        (
            "a hard link from another repository",
            { cache, folder in
                let other = cache.repository("datasets--d--d")
                try FileSystem.createHardLink(folder.blob(sha256("2")), at: other.blob(sha256("2")))
                try cache.link("more.bin", to: sha256("2"), at: .of("a"), in: other)
            }
        ),
        (
            "a ref written in place, as Python once did",
            { _, folder in
                let file = try FileDescriptor(folder.ref("main"), [.write])
                try Array(Commit.of("b").hash.utf8).withUnsafeBytes { try file.write($0, at: 0) }
            }
        ),
        (
            "a folder that became a link to where it went",
            { cache, folder in
                let place = cache.folder("moved")
                try FileSystem.rename(folder.path, to: place)
                try FileSystem.createSymlink(place, at: folder.path)
            }
        ),
        (
            "a snapshot folder in place of a nested one",
            { cache, folder in
                let path = Path.join(folder.snapshot(.of("a")), "sub/dir")
                try FileSystem.removeTree(path)
                try cache.write(path, "now a file")
            }
        ),
    ]

    @Test(arguments: changes.map(\.0))
    func aChangeIsSeen(name: String) throws {
        let place = try filled()
        let change = try #require(Self.changes.first { $0.0 == name }).1
        try change(place.cache, place.cache.repository())
        try place.check()
        // And once more with what the last scan has remembered.
        try place.check()
    }

    /// The clock of a file system ticks every few milliseconds: what is changed twice within a tick looks the same. A
    /// folder that changed only just now is therefore not trusted; here "now" is later than any scan can take.
    @Test func aChangeInTheSameTickOfTheClockIsSeen() throws {
        let place = try filled()
        let (cache, folder) = (place.cache, place.cache.repository())
        let tick = Timestamp.now + 3600
        for path in [folder.blobs, folder.refs, folder.snapshots, Path.join(folder.snapshot(.of("a")), "sub/dir")] {
            try FileSystem.setTimes(path, accessed: tick, modified: tick)
            try place.check()
            switch path {
            case folder.blobs: try cache.blob(sha1("9"), in: folder)
            case folder.refs: try cache.ref("later", .of("b"), in: folder)
            case folder.snapshots: try FileSystem.createDirectories(folder.snapshot(.of("e")))
            default: try cache.link("sub/dir/later.bin", to: sha1("1"), at: .of("a"), in: folder)
            }
            try FileSystem.setTimes(path, accessed: tick, modified: tick)
            try place.check("\(path)")
            try place.remember()
        }
    }

    @Test func aHardLinkThatWentElsewhereIsSeen() throws {
        let place = try filled()
        let cache = place.cache
        let other = cache.repository("datasets--d--d")
        try FileSystem.createHardLink(cache.repository().blob(sha256("2")), at: other.blob(sha256("2")))
        try cache.link("more.bin", to: sha256("2"), at: .of("a"), in: other)
        try place.remember()
        try place.check()
        try FileSystem.removeTree(other.path)
        try place.check("what the first repository frees has changed without a change in its folders")
    }

    @Test func aPayloadThatWentIsSeen() throws {
        let place = try Place()
        let (cache, folder) = (place.cache, place.cache.repository())
        let hash = "ab" + String(repeating: "c", count: 62)
        try cache.makeStore()
        let payload = try cache.payload(hash, size: 900)
        try cache.share(sha256("1"), hash, in: folder)
        try cache.link("w.bin", to: sha256("1"), at: .of("a"), in: folder)
        try place.remember()
        try place.check()
        try FileSystem.remove(payload)
        try place.check()
        try FileSystem.removeTree(cache.layout.sharedStore)
        try place.check()
    }

    @Test func aTreeThatOnlyTheCatalogLearnsOfIsUsed() throws {
        let place = try filled()
        let files = [RepositoryFile(path: "1111.bin", size: 3, oid: sha1("1"))]
        try place.catalog.remember(
            RepositoryTree(commit: .of("b"), files: files), of: .model("org/m"), at: Timestamp.now)
        let state = try CacheScanner(place.cache.layout, catalog: place.catalog).scan()
        #expect(state.repository(.model("org/m"))?.revisions.map(\.isComplete) == [nil, true])
        try place.check()
    }

    /// It counted as a catalog without the tree, and a complete model as unknown.
    @Test func aCatalogThatCannotSayATreeIsAnError() throws {
        let place = try filled()
        try place.catalog.write { try $0.execute("DROP TABLE files") }
        try place.cache.blob(sha1("9"), in: place.cache.repository())
        let files = [RepositoryFile(path: "1111.bin", size: 3, oid: sha1("1"))]
        #expect(throws: AIError.self) {
            try place.catalog.remember(
                RepositoryTree(commit: .of("b"), files: files), of: .model("org/m"), at: Timestamp.now)
        }
        try place.catalog.write { connection in
            try connection.execute("ALTER TABLE trees RENAME TO lost")
        }
        #expect(throws: AIError.self) { try CacheScanner(place.cache.layout, catalog: place.catalog).scan() }
        #expect(throws: AIError.self) { try CacheScanner(place.cache.layout, catalog: place.catalog).overview() }
    }

    @Test func whatTheCatalogNotedOfUseCountsAndIsNotLostByAChange() throws {
        let place = try filled()
        let later = Timestamp.now + 1000
        try place.catalog.markUsed(
            cache: place.cache.layout.root, folder: "models--org--m", commit: .of("b"), at: later)
        func used() throws -> Double? {
            try CacheScanner(place.cache.layout, catalog: place.catalog).scan().repository(.model("org/m"))?
                .revisions.first { $0.commit == .of("b") }?.lastUsedAt
        }
        #expect(try used() == later)
        try place.cache.blob(sha1("9"), in: place.cache.repository())
        #expect(try used() == later)
    }

    /// A list needs no more than sums, and a cache of many files is read anew when there is nothing but these.
    @Test func detailsAreRememberedWhenSomebodyAsksForThem() throws {
        let place = try filled()
        let root = place.cache.layout.root
        for folder in try place.catalog.scanDetails(ofCache: root).keys {
            try place.catalog.remember(scans: [], gone: [folder], ofCache: root)
        }
        let scanner = CacheScanner(place.cache.layout, catalog: place.catalog)
        #expect(try scanner.overview().repositories.count == 2)
        #expect(try place.catalog.scanDetails(ofCache: root).isEmpty && summaries(place).count == 2)
        try place.check()
        #expect(try place.catalog.scanDetails(ofCache: root).count == 2)
    }

    /// The catalog's contents are not trusted.
    @Test(arguments: 0..<40)
    func bytesThatAreNoScanAreReadAgainFromTheDisk(number: Int) throws {
        let place = try filled()
        let root = place.cache.layout.root
        var random = SeededRandom(number: number)
        func damaged(_ bytes: [UInt8]) -> [UInt8] {
            var bytes = bytes
            switch number % 4 {
            case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            case 1: bytes += [0]
            case 2: bytes[0] ^= 1
            // A count or a length that is enormous.
            default: bytes.replaceSubrange(1..<2, with: [255, 255, 255, 255, 255, 1])
            }
            return bytes
        }
        let details = try place.catalog.scanDetails(ofCache: root)
        let scans = try summaries(place).map { folder, summary in
            RememberedScan(
                folder: folder, summary: random.one(in: 2) ? damaged(summary) : summary,
                details: damaged(details[folder]!))
        }
        try place.catalog.remember(scans: scans, gone: [], ofCache: root)
        try place.check()
    }

    /// Sound in form; that it cannot be true must not end the program.
    @Test(arguments: 0..<40)
    func bytesThatLieDoNotEndTheProgram(number: Int) throws {
        let place = try filled()
        let root = place.cache.layout.root
        var random = SeededRandom(number: number)
        func flipped(_ bytes: [UInt8]) -> [UInt8] {
            var bytes = bytes
            for _ in 0..<8 {
                bytes[Int.random(in: 1..<bytes.count, using: &random)] ^= 1 << UInt8(random.next() % 8)
            }
            return bytes
        }
        let details = try place.catalog.scanDetails(ofCache: root)
        let scans = try summaries(place).map { folder, summary in
            RememberedScan(folder: folder, summary: flipped(summary), details: flipped(details[folder]!))
        }
        try place.catalog.remember(scans: scans, gone: [], ofCache: root)
        let scanner = CacheScanner(place.cache.layout, catalog: place.catalog)
        #expect(try scanner.overview().repositories.count == 2)
        #expect(try scanner.scan().repositories.count == 2)
    }

    @Test func twoCachesDoNotMix() throws {
        let place = try filled()
        let other = try HandmadeCache()
        try other.revision(.of("e"), [(sha1("1"), 1)], in: other.repository())
        let state = try CacheScanner(other.layout, catalog: place.catalog).scan()
        #expect(state.repositories.map(\.revisions.count) == [1])
        try place.check()
    }
}
