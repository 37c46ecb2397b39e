import HubCore
import Support
import Testing

@testable import Catalog

/// What must outlive the file: backups, pins, and a file that is exchanged under its users.
@Suite struct KeepingTests {
    // MARK: Backups

    @Test func theDaysFirstChangeLeavesABackupOnceThereIsSomethingToKeep() throws {
        let place = try Place()
        let catalog = try place.open()
        try catalog.remember([try record("org/name")], at: 1)
        #expect(try place.backups() == [])
        try catalog.markUsed(cache: "/c", folder: "models--org--name", commit: commit("a"), at: 5)
        let name = try #require(try place.backups().first)
        #expect(try place.backups().count == 1)
        let before = try FileSystem.status(place.folder("state/\(name)"))?.inode
        try catalog.markUsed(cache: "/c", folder: "models--org--name", commit: commit("b"), at: 6)
        #expect(try FileSystem.status(place.folder("state/\(name)"))?.inode == before)
        // What a person asked for is backed up at once.
        try catalog.pin(cache: "/c", folder: "models--org--name", commit: commit("b"), note: "for work", at: 7)
        let backup = try Connection(place.folder("state/\(name)"), readOnly: true)
        #expect(try backup.query("SELECT note FROM pins") { $0.text(0) } == ["for work"])
        #expect(try backup.first("SELECT count(*) FROM uses") { $0.int(0) } == 2)
        #expect(
            try place.names().filter { $0.hasSuffix(".tmp") || $0.contains("backup-") && $0.hasSuffix("-wal") }
                == [])
    }

    @Test func onlySomeBackupsAreKeptAndWhatAKilledProcessLeftGoes() throws {
        let place = try Place()
        let catalog = try place.open()
        for number in 1...5 {
            try place.folder.write("state/catalog.sqlite3.backup-2025-01-0\(number)-v\(number)", "")
        }
        for number in 1...9 { try place.folder.write("state/catalog.sqlite3.backup-2025-02-0\(number)", "") }
        let (old, new) = (
            "catalog.sqlite3.backup-2025-02-01.0000.tmp", "catalog.sqlite3.backup-2025-02-01.0001.tmp"
        )
        for name in [old, new] { try place.folder.write("state/\(name)", "half") }
        try FileSystem.setTimes(place.folder("state/\(old)"), accessed: 1, modified: 1)
        try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: nil, at: 7)
        let names = try place.backups()
        #expect(names.count { $0.contains("-v") } == CatalogBackups.mostVersions)
        #expect(names.filter { $0.hasSuffix(".tmp") } == [new])
        let days = names.filter { !$0.contains("-v") && !$0.hasSuffix(".tmp") }
        #expect(days.count == CatalogBackups.mostDays && days.first == "catalog.sqlite3.backup-2025-02-04")
    }

    @Test func aBackupThatCannotBeWrittenIsToldOnceAndStopsNothing() throws {
        let place = try Place()
        let heard = Monitor<[String]>([])
        let catalog = try Catalog(path: place.path) { text in heard.update { $0.append(text) } }
        // A folder in its place is refused to root too.
        try FileSystem.createDirectories("\(place.path).backup-\(CatalogBackups.day(Timestamp.now))/x")
        try FileSystem.createDirectories("\(place.path).backup-\(CatalogBackups.day(Timestamp.now + 86_400))/x")
        // The folder counts as the day's backup, until a person's own change is to be in it.
        try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: nil, at: 7)
        try catalog.markUsed(cache: "/c", folder: "f", commit: commit("a"), at: 8)
        #expect(try catalog.pins(ofCache: "/c").count == 1)
        let told = heard.update { $0 }
        #expect(told.count == 1 && told.first?.hasPrefix("the catalog could not be backed up: ") == true)
        #expect(try place.names().filter { $0.hasSuffix(".tmp") } == [])
    }

    /// "The catalog is disposable": who deletes it finds the pins again.
    @Test func aCatalogThatWasDeletedTakesUpItsBackup() throws {
        let place = try Place()
        try place.open().pin(cache: "/c", folder: "f", commit: commit("a"), note: "n", at: 7)
        try FileSystem.remove(place.path)
        let heard = Monitor<[String]>([])
        let again = try Catalog(path: place.path) { text in heard.update { $0.append(text) } }
        #expect(
            try again.pins(ofCache: "/c") == [Pin(folder: "f", commit: commit("a"), note: "n", pinnedAt: 7)])
        #expect(heard.update { $0 }.first?.hasPrefix("the catalog was missing; pins") == true)
    }

    // MARK: Pins and facts

    @Test func pinsAreKeptByCache() throws {
        let catalog = try Place().open()
        try catalog.pin(cache: "/c", folder: "f", commit: commit("b"), note: nil, at: 1)
        try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: "first", at: 2)
        try catalog.pin(cache: "/d", folder: "f", commit: commit("a"), note: nil, at: 3)
        try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: "second", at: 4)
        #expect(
            try catalog.pins(ofCache: "/c") == [
                Pin(folder: "f", commit: commit("a"), note: "second", pinnedAt: 2),
                Pin(folder: "f", commit: commit("b"), note: nil, pinnedAt: 1),
            ])
        #expect(try catalog.unpin(cache: "/c", folder: "f", commit: commit("a")))
        #expect(try !catalog.unpin(cache: "/c", folder: "f", commit: commit("a")))
        #expect(try catalog.pins(ofCache: "/c").map(\.commit) == [commit("b")])
        #expect(try catalog.pins(ofCache: "/d").count == 1)
    }

    @Test func theHubsThatFilledItAreNotedOnceADay() throws {
        let catalog = try Place().open()
        let (hub, mirror) = (Endpoint.huggingFace, try Endpoint("https://mirror.example/hf"))
        try catalog.noteEndpoint(mirror, at: 0)
        try catalog.noteEndpoint(hub, at: 86_400)
        let changes = try catalog.read { $0.changes }
        try catalog.noteEndpoint(hub, at: 86_500)
        #expect(try catalog.read { $0.changes } == changes)
        let told = try catalog.endpoints()
        #expect(told.map(\.address) == [hub.address, mirror.address])
        #expect(told.map(\.day) == ["1970-01-02", "1970-01-01"])
    }

    // MARK: Another file in its place

    @Test func aCatalogThatIsDeletedUnderItsUserIsMadeAnew() throws {
        let place = try Place()
        let catalog = try place.open()
        try catalog.remember([try record("org/old")], at: 1)
        for name in try place.names() { try FileSystem.remove(place.folder("state/\(name)")) }
        #expect(try catalog.ids(query()) == [])
        try catalog.remember([try record("org/new")], at: 1)
        #expect(try place.open().ids(query()) == ["org/new"])
    }

    @Test func whoeverHasTheOldFileOpenGoesOnWithTheNewOne() throws {
        let place = try Place()
        let catalog = try place.open()
        try catalog.remember([try record("org/old")], at: 1)
        try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: nil, at: 1)
        let rebuilt = try CatalogRebuild.run(place.path) { new in
            try new.remember([try record("org/new")], at: 1)
            // Another process still uses the old one.
            try catalog.pin(cache: "/c", folder: "f", commit: commit("b"), note: nil, at: 2)
        }
        #expect(rebuilt.whole == Schema.keptTables && rebuilt.damaged == [] && rebuilt.backup == nil)
        try catalog.pin(cache: "/c", folder: "f", commit: commit("c"), note: nil, at: 3)
        for one in [catalog, try place.open()] {
            #expect(try one.ids(query()) == ["org/new"])
            #expect(try one.pins(ofCache: "/c").map(\.commit) == [commit("a"), commit("b"), commit("c")])
        }
        // The old one is whole, with what was in its log.
        let old = try Connection(try #require(rebuilt.aside))
        #expect(try old.query("SELECT id FROM models") { $0.text(0) } == ["org/old"])
        #expect(try old.first("SELECT count(*) FROM pins") { $0.int(0) } == 2)
    }

    @Test func writersDuringManyRebuildsLoseNothing() async throws {
        let place = try Place()
        let catalogs = [try place.open(), try place.open()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    try await Thread.run {
                        for number in 0..<15 {
                            try catalogs[writer % 2].markUsed(
                                cache: "/c", folder: "w\(writer)-\(number)", commit: commit("a"), at: 1)
                        }
                    }
                }
            }
            group.addTask {
                try await Thread.run { for _ in 0..<5 { _ = try CatalogRebuild.run(place.path) { _ in } } }
            }
            try await group.waitForAll()
        }
        for catalog in catalogs + [try place.open()] {
            #expect(try catalog.uses(ofCache: "/c").count == 60)
            #expect(try catalog.read { try $0.query("PRAGMA integrity_check") { $0.text(0) } } == ["ok"])
        }
    }
}
