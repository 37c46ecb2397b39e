import HubCore
import Support
import Testing

@testable import Catalog

/// Files with tables of another version, and files that are no catalogs.
@Suite struct SchemaTests {
    private let place: Place
    init() throws { place = try Place() }

    /// Version 1 with one more.
    private func later(_ statements: String) -> Schema {
        Schema(versions: Schema.current.versions + [statements])
    }

    private func open(_ schema: Schema) throws -> Catalog {
        try Catalog(path: place.path, schema: schema) { [place] _ in withExtendedLifetime(place) {} }
    }

    /// A catalog of today's version with something of every kind, closed.
    private func fill() throws {
        let catalog = try place.open()
        try catalog.remember(try RealModels.load(), at: 1)
        let name = try repository("gpt2")
        try catalog.remember(
            RepositoryTree(commit: commit("a"), files: [RepositoryFile(path: "x", size: 1, oid: commit("b").hash)]),
            of: name, at: 2)
        try catalog.remember(
            [KnownRevision(name: "main", kind: .branch, commit: commit("a"))], of: name, complete: true, at: 2)
        try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: "for work", at: 3)
        try catalog.markUsed(cache: "/c", folder: "f", commit: commit("a"), at: 4)
        try catalog.remember(
            scans: [RememberedScan(folder: "f", summary: [1], details: [2])], gone: [], ofCache: "/c")
    }

    private func expectFilled(_ catalog: Catalog) throws {
        let records = try RealModels.load()
        for record in records { #expect(try catalog.model(record.repository)?.record == record) }
        #expect(try catalog.search(query("text generation")).count > 5)
        let name = try repository("gpt2")
        #expect(try catalog.tree(of: name, at: commit("a"))?.files.map(\.path) == ["x"])
        #expect(try catalog.revisions(of: name).map(\.name) == ["main"])
        #expect(try catalog.pins(ofCache: "/c").map(\.note) == ["for work"])
        #expect(try catalog.uses(ofCache: "/c") == ["f": [commit("a").hash: 4]])
        #expect(try catalog.scanDetails(ofCache: "/c") == ["f": [2]])
        #expect(try catalog.read { try $0.query("PRAGMA integrity_check") { $0.text(0) } } == ["ok"])
        #expect(try catalog.read { try $0.query("PRAGMA foreign_key_check") { $0.text(0) } } == [])
    }

    private func version() throws -> Int64? {
        try Connection(place.path).first("PRAGMA user_version") { $0.int(0) }
    }

    /// The statements of a version that was released never change: files out there were made by them.
    @Test func versionOneIsWhatItWas() throws {
        let hasher = ContentHasher()
        hasher.update(Array(Schema.current.versions[0].utf8))
        #expect(hasher.finish().hex == "1fd7738aade151ea11a7b0472935b625c1b7eaeaa20f2990596794b13ca9c18c")
    }

    @Test(arguments: [
        "ALTER TABLE models ADD COLUMN flavour TEXT; CREATE INDEX models_by_flavour ON models (flavour)",
        // What others refer to is made anew.
        """
        CREATE TABLE new_caches (cache INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
        INSERT INTO new_caches SELECT * FROM caches;
        DROP TABLE caches;
        ALTER TABLE new_caches RENAME TO caches
        """,
    ])
    func aLaterVersionFindsEveryRow(_ statements: String) throws {
        try fill()
        let first = Int64(Schema.current.version)
        try expectFilled(try open(later(statements)))
        #expect(try version() == first + 1)
        // The next to open it finds it so.
        let again = try open(later(statements))
        if statements.contains("flavour") {
            try again.write { try $0.run("UPDATE models SET flavour = 'sweet' WHERE id = 'gpt2'") }
            try again.remember([try record("org/new", tags: ["llama"])], at: 9)
            #expect(try again.ids(query("org/new")) == ["org/new"])
        }
        try expectFilled(again)
        // Today's hub leaves it alone.
        #expect(throws: AIError.self) { try place.open() }
    }

    @Test func aFileFromBeforeALaterVersionLeavesABackupOfWhatCannotBeMadeAgain() throws {
        try fill()
        for name in try place.backups() { try FileSystem.remove(place.folder("state/\(name)")) }
        _ = try open(later("CREATE TABLE more (x INTEGER) STRICT"))
        let name = try #require(try place.backups().first)
        #expect(name.hasPrefix("catalog.sqlite3.backup-2") && name.hasSuffix("-v\(Schema.current.version)"))
        let backup = try Connection(place.folder("state/\(name)"), readOnly: true)
        #expect(try backup.first("PRAGMA user_version") { $0.int(0) } == Int64(Schema.current.version))
        #expect(try backup.query("SELECT note FROM pins") { $0.text(0) } == ["for work"])
        #expect(try backup.query("SELECT used_at FROM uses") { $0.double(0) } == [4])
        #expect(
            try backup.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text(0) }
                == Schema.keptTables.sorted())
    }

    @Test func aVersionThatFailsChangesNothing() throws {
        try fill()
        let error = #expect(throws: AIError.self) { try open(later("CREATE TABLE more (x); DROP TABLE none")) }
        #expect(error?.code == .catalogUnusable)
        try expectFilled(try place.open())
        #expect(try version() == Int64(Schema.current.version))
    }

    @Test func aNewFileGetsEveryVersion() throws {
        let catalog = try open(later("ALTER TABLE models ADD COLUMN flavour TEXT"))
        try catalog.remember([try record("org/name", downloads: 5)], at: 1)
        #expect(try catalog.model(repository("org/name"))?.record.downloads == 5)
        #expect(try version() == Int64(Schema.current.version) + 1)
    }

    @Test func aColumnOfALaterVersionIsAddedToTheModels() throws {
        try fill()
        let first = Schema.current.version
        let flavour = ModelColumn.integer("flavour", { $0.parameters }, { $0.parameters = $1 }, since: first + 1)
        let schema = Schema(columns: ModelColumn.all + [flavour])
        #expect(schema.versions.dropLast() == Schema.current.versions[...])
        let catalog = try open(schema)
        try expectFilled(catalog)
        try catalog.write { try $0.run("UPDATE models SET flavour = 7 WHERE id = 'gpt2'") }
        #expect(try version() == Int64(first) + 1)
    }

    // MARK: Files that are no catalogs

    /// Of a hub before version 1, or of another program: the tables have the names that they have here, or not.
    @Test(arguments: [
        """
        CREATE TABLE pins (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, note TEXT, pinned_at REAL NOT NULL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE uses (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, used_at REAL NOT NULL
        ) STRICT;
        INSERT INTO pins VALUES ('/c', 'f', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'for work', 3);
        INSERT INTO uses VALUES ('/c', 'f', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 4);
        PRAGMA user_version = 17
        """,
        "CREATE TABLE bookmarks (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1",
    ])
    func aFileThatIsNoCatalogIsRefusedAndARebuildKeepsItsPins(_ statements: String) throws {
        try FileSystem.createDirectories(place.folder("state"))
        do { try Connection(place.path).execute(statements) }
        let before = try place.bytes()
        let error = #expect(throws: AIError.self) { try place.open() }
        #expect(error?.code == .catalogUnusable && error?.context.path == place.path)
        #expect(error?.isCatalogDamage == true && error?.recoverySuggestion?.contains("hub doctor rebuild") == true)
        #expect(try place.bytes() == before)
        let rebuilt = try CatalogRebuild.run(place.path) { try $0.remember([try record("org/new")], at: 1) }
        #expect(rebuilt.aside != nil)
        let catalog = try place.open()
        #expect(try catalog.ids(query()) == ["org/new"])
        let hasPins = statements.contains("pins")
        #expect(try catalog.pins(ofCache: "/c").map(\.note) == (hasPins ? ["for work"] : []))
        #expect(try catalog.uses(ofCache: "/c") == (hasPins ? ["f": [commit("a").hash: 4]] : [:]))
    }
}
