import HubCore
import Support
import Testing

@testable import Catalog

/// Making a catalog again from what a damaged one, its backups and the cache still tell.
@Suite struct RebuildTests {
    /// A catalog with pins, uses and enough metadata for many pages, closed.
    private func filled() throws -> Place {
        let place = try Place()
        let catalog = try place.open()
        try catalog.remember(
            (0..<200 as Range<Int64>).map { try record("org/name\($0)", downloads: $0, tags: ["t\($0)"]) }, at: 1)
        for digit in "abcdef" {
            try catalog.pin(cache: "/c", folder: "f", commit: commit(digit), note: nil, at: 1)
        }
        try catalog.markUsed(cache: "/c", folder: "f", commit: commit("a"), at: 9)
        return place
    }

    private func page(of table: String, _ place: Place) throws -> Int64 {
        let connection = try Connection(place.path)
        return try #require(
            try connection.first("SELECT rootpage FROM sqlite_schema WHERE name = ?", table) { $0.int(0) })
    }

    private func overwrite(_ place: Place, page: Int64, _ bytes: [UInt8]) throws {
        let file = try FileDescriptor(place.path, [.write])
        let result = bytes.withUnsafeBytes { buffer in
            Result { try file.write(buffer, at: (page - 1) * 4096) }
        }
        try result.get()
    }

    private func expectKept(_ place: Place, pins: Int = 6, uses: Int = 1) throws {
        let catalog = try place.open()
        #expect(try catalog.pins(ofCache: "/c").count == pins)
        #expect(try catalog.uses(ofCache: "/c")["f"]?.count ?? 0 == uses)
        #expect(try catalog.read { try $0.query("PRAGMA integrity_check") { $0.text(0) } } == ["ok"])
        #expect(
            try place.names().filter { $0.hasSuffix(".tmp") || $0.contains(".tmp.") || $0.hasSuffix(".rebuilt") }
                == [])
    }

    @Test func aFileThatIsNoDatabaseGivesWayToItsBackup() throws {
        let place = try filled()
        try overwrite(place, page: 1, [UInt8](repeating: 7, count: 4096))
        #expect(throws: AIError.self) { try place.open() }
        let rebuilt = try CatalogRebuild.run(place.path) { _ in }
        #expect(rebuilt.damaged == Schema.keptTables && rebuilt.backup != nil)
        // The use came after the day's backup; the pins, each of which a person asked for, are all in it.
        try expectKept(place, uses: 0)
        #expect(try FileSystem.contents(try #require(rebuilt.aside))?.prefix(100).allSatisfy { $0 == 7 } == true)
    }

    @Test func oneTableThatIsDamagedComesFromTheBackupAndTheOthersFromTheFile() throws {
        let place = try filled()
        try overwrite(place, page: try page(of: "pins", place), [UInt8](repeating: 0, count: 4096))
        let rebuilt = try CatalogRebuild.run(place.path) { _ in }
        #expect(
            rebuilt.damaged == ["pins"] && rebuilt.whole == Schema.keptTables.filter { $0 != "pins" }
                && rebuilt.backup != nil)
        try expectKept(place)
    }

    @Test func aDamagedPageInTheMiddleCostsOnlyItsRows() throws {
        let place = try Place()
        let catalog = try place.open()
        for number in 0..<400 {
            try catalog.write {
                try $0.run(
                    "INSERT INTO uses VALUES ('/c', ?, ?, 1)", "f\(1000 + number)", commit("a").hash)
            }
        }
        try FileSystem.remove(place.folder("state/\(try #require(try place.backups().first))"))
        let pages = try catalog.read {
            try $0.query("SELECT pageno FROM dbstat WHERE name = 'uses' AND pagetype = 'leaf'") { $0.int(0) }
        }
        #expect(pages.count > 4)
        _ = try catalog.write { try $0.run("UPDATE uses SET used_at = 2") }
        for name in try place.backups() { try FileSystem.remove(place.folder("state/\(name)")) }
        try Connection(place.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try overwrite(place, page: pages[pages.count / 2], [UInt8](repeating: 0, count: 4096))
        let rebuilt = try CatalogRebuild.run(place.path) { _ in }
        #expect(rebuilt.damaged.contains("uses") && rebuilt.backup == nil)
        let rows = try #require(rebuilt.rows["uses"])
        #expect(rows > 200 && rows < 400)
        let names = try place.open().uses(ofCache: "/c").keys
        #expect(names.contains("f1000") && names.contains("f1399"))
    }

    @Test func aDamagedBackupIsPassedOver() throws {
        let place = try filled()
        try place.folder.write("state/catalog.sqlite3.backup-9999-01-01", "no database at all, but the newest")
        try place.folder.write("state/catalog.sqlite3.backup-9999-01-02", "")
        try FileSystem.remove(place.path)
        try expectKept(place, uses: 0)
    }

    @Test func aMissingCatalogIsMadeToo() throws {
        let place = try Place()
        let rebuilt = try CatalogRebuild.run(place.path) { try $0.remember([try record("org/new")], at: 1) }
        #expect(rebuilt.aside == nil)
        #expect(try place.open().ids(query()) == ["org/new"])
    }

    @Test func whatANewerHubMadeIsNotReplacedUnlessItIsDamaged() throws {
        let place = try filled()
        try Connection(place.path).execute("PRAGMA user_version = 999")
        let before = try place.bytes()
        let error = #expect(throws: AIError.self) { try CatalogRebuild.run(place.path) { _ in } }
        #expect(error?.code == .catalogUnusable && error?.message.contains("999") == true)
        #expect(try place.bytes()["catalog.sqlite3"] == before["catalog.sqlite3"])
        try overwrite(place, page: try page(of: "models", place), [UInt8](repeating: 0, count: 4096))
        _ = try CatalogRebuild.run(place.path) { _ in }
        try expectKept(place)
    }

    @Test func whatFailsOnTheWayLeavesTheOldFileInItsPlace() throws {
        struct Stop: Error {}
        let place = try filled()
        let error = #expect(throws: AIError.self) { try CatalogRebuild.run(place.path) { _ in throw Stop() } }
        #expect(error?.cause is Stop)
        try expectKept(place)
        #expect(try place.open().ids(query()).count == 200)
    }

    @Test func aMoveThatWasCutOffIsFinishedByTheNextWhoOpens() throws {
        let place = try filled()
        let new = try Place()
        try new.open().pin(cache: "/c", folder: "new", commit: commit("1"), note: nil, at: 1)
        try FileSystem.rename(new.path, to: CatalogSwap.rebuilt(place.path))
        // The old file is gone already, its log is not.
        let written = try #require(try FileSystem.status(CatalogSwap.rebuilt(place.path)))
        let digits = Timestamp.iso8601(written.modified).filter { $0 != "-" && $0 != ":" }
        let aside = CatalogSwap.asidePrefix(place.path) + digits
        try FileSystem.rename(place.path, to: aside)
        try place.folder.write("state/catalog.sqlite3-wal", "the log of another file")
        // They know pins that the new file, which was not made from the old one, does not have.
        for name in try place.backups() { try FileSystem.remove(place.folder("state/\(name)")) }
        #expect(try place.open().pins(ofCache: "/c").map(\.folder) == ["new"])
        #expect(try FileSystem.text(aside + "-wal") == "the log of another file")
    }
}
