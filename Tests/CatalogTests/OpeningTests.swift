import HubCore
import Libc
import Support
import Testing

@testable import Catalog

@Suite struct OpeningTests {
    @Test func aFreshCatalogHasTheWholeSchemaInWALMode() throws {
        let place = try Place()
        let catalog = try place.open()
        #expect(catalog.path == place.path)
        try catalog.read { connection in
            func pragma(_ name: String) throws -> String? { try connection.first("PRAGMA \(name)") { $0.text(0) } }
            #expect(try pragma("user_version") == String(Schema.current.version))
            #expect(try pragma("journal_mode") == "wal")
            #expect(try pragma("foreign_keys") == "1")
            #expect(try pragma("synchronous") == "1")
            #expect(try pragma("integrity_check") == "ok")
            let tables = try connection.query(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%' ORDER BY name",
                map: { $0.text(0) })
            #expect(
                tables == [
                    "adoptions", "bandwidth", "budgets", "cache_ids", "caches", "cards", "checks", "choices",
                    "digests", "facts", "files",
                    "machines", "mirrors",
                    "models",
                    "pins",
                    "range_digests", "registry", "repositories", "revisions", "scans", "served", "stores", "tags",
                    "trees",
                    "tried",
                    "tried_remotely",
                    "uses",
                    "verified", "walk_pages",
                    "walks",
                    "words",
                ])
            let loose = try connection.query(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name <> 'sqlite_schema'",
                map: { $0.text(0) })
            #expect(loose == [])
        }
        #expect(try place.backups() == [])
    }

    @Test func theFolderOfTheCatalogIsForItsOwnerOnly() throws {
        let place = try Place()
        _ = try place.open()
        #expect(try FileSystem.status(place.folder("state"))?.mode == 0o700)
    }

    @Test func openingAgainFindsWhatWasThere() throws {
        let place = try Place()
        try place.open().remember([try record("org/name", downloads: 5)], at: 1)
        #expect(try place.open().model(repository("org/name"))?.record.downloads == 5)
    }

    @Test(arguments: ["DELETE", "WAL"])
    func aNewerCatalogIsRefusedAndNotTouched(_ mode: String) throws {
        let place = try Place()
        try FileSystem.createDirectories(place.folder("state"))
        do {
            let connection = try Connection(place.path)
            try connection.execute(
                """
                PRAGMA journal_mode = \(mode); CREATE TABLE future (x);
                PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 999
                """)
        }
        let before = try place.bytes()
        let error = #expect(throws: AIError.self) { try place.open() }
        #expect(error?.code == .catalogUnusable)
        #expect(error?.message.contains("999") == true && error?.context.path == place.path)
        #expect(error?.recoverySuggestion?.contains("newer") == true)
        #expect(try place.bytes() == before)
    }

    private func expectDamage(_ place: Place) {
        let error = #expect(throws: AIError.self) {
            let catalog = try place.open()
            _ = try catalog.search(query("llama"))
            _ = try catalog.model(repository("org/name250"))
            try catalog.remember([try record("org/new", tags: ["a"])], at: 1)
            try catalog.read {
                _ = try $0.query("SELECT * FROM models JOIN model_tags USING (model)") { $0.int(0) }
            }
        }
        #expect(error?.code == .catalogUnusable)
        #expect(error?.context.path == place.path && error?.message.contains(place.path) == true)
        #expect(error?.cause is SQLiteError)
    }

    @Test(arguments: [100, 5000])
    func aFileThatIsNoDatabaseIsUnusable(_ size: Int) throws {
        let place = try Place()
        try place.folder.write("state/catalog.sqlite3", ModelRepository.randomBytes(size, seed: 9))
        expectDamage(place)
    }

    @Test(arguments: [50, 600, 4096, 40_000])
    func aTruncatedCatalogIsUnusable(_ size: Int64) throws {
        let place = try Place()
        try place.open().remember(
            (0..<500 as Range<Int64>).map {
                try record("org/name\($0)", downloads: $0, tags: ["llama", "tag\($0)"])
            }, at: 1)
        let file = try FileDescriptor(place.path, [.write])
        #expect(try file.status().size > 60_000)
        try file.truncate(to: size)
        expectDamage(place)
    }

    @Test func anEmptyFileBecomesACatalog() throws {
        let place = try Place()
        try place.folder.write("state/catalog.sqlite3", "")
        try place.open().remember([try record("org/name")], at: 1)
    }

    @Test func aPlaceWhereNothingCanBeWrittenIsNoPermission() throws {
        let place = try Place()
        // A folder where the file should be is refused to root too.
        try FileSystem.createDirectories(place.path)
        let error = #expect(throws: AIError.self) { try place.open() }
        #expect(error?.code == .permissionDenied && error?.exitStatus == 6)
        #expect(error?.context.path == place.path)
    }

    @Test func aPlaceBelowAFileIsNamed() throws {
        let place = try Place()
        try place.folder.write("state", "")
        let error = #expect(throws: AIError.self) { try place.open() }
        #expect(error?.exitStatus == 6)
        #expect(error?.message.contains(place.folder("state")) == true)
    }

    @Test(.enabled(if: getuid() != 0, "root may write anywhere"))
    func aReadOnlyFolderIsNoPermission() throws {
        let place = try Place()
        try FileSystem.createDirectories(place.folder("state"))
        chmod(place.folder("state"), 0o500)
        let error = #expect(throws: AIError.self) { try place.open() }
        #expect(error?.code == .permissionDenied)
        chmod(place.folder("state"), 0o700)
    }

    @Test func aCatalogThatAnotherHoldsIsUnusableAndNotDamaged() {
        for (code, expected) in [
            (5, .catalogUnusable), (6, .catalogUnusable), (5 | 1 << 8, .catalogUnusable), (13, .diskFull),
            (8, .permissionDenied), (14, .permissionDenied), (11, .catalogUnusable), (26, .catalogUnusable),
            (1, .catalogUnusable), (3, .permissionDenied), (10, .catalogUnusable),
        ] as [(Int32, ErrorCode)] {
            let error = SQLiteError(extendedCode: code, message: "words").asAIError(path: "/p/c")
            #expect(error.code == expected && error.context.path == "/p/c" && error.message.contains("/p/c"))
            #expect((error.cause as? SQLiteError)?.code == code & 0xFF)
        }
        for (number, expected) in [
            (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EROFS, .permissionDenied), (EIO, .catalogUnusable),
        ] as [(Int32, ErrorCode)] {
            let error = SQLiteError(extendedCode: 10 | 3 << 8, message: "words", systemErrno: number)
            #expect(error.asAIError(path: "/p/c").code == expected)
        }
        let busy = SQLiteError(extendedCode: 5, message: "").asAIError(path: "/p/c")
        #expect(busy.message.contains("in use") && busy.recoverySuggestion?.contains("move") == false)
    }

    @Test func manyMayOpenAFreshCatalogAtOnce() async throws {
        for _ in 0..<10 {
            let place = try Place()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await Thread.run {
                            try place.open().remember([try record("org/name\(number)")], at: 1)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try place.open().ids(query()).count == 8)
        }
    }

    @Test func twoCatalogsOnOneFileWritingAtOnceLoseNothing() async throws {
        let place = try Place()
        let catalogs = [try place.open(), try place.open()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    try await Thread.run {
                        let catalog = catalogs[writer % 2]
                        for number in 0..<40 {
                            try catalog.remember(
                                [
                                    try record(
                                        "org/w\(writer)-n\(number)", downloads: Int64(number),
                                        tags: ["shared", "t\(number)"])
                                ],
                                at: 1)
                            try catalog.markUsed(
                                cache: "/c", folder: "models--w\(writer)", commit: commit("a"), at: Double(number))
                            _ = try catalog.search(query("shared", limit: 5))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for catalog in catalogs {
            #expect(try catalog.search(query("shared")).count == 160)
            #expect(try catalog.uses(ofCache: "/c").count == 4)
            #expect(try catalog.uses(ofCache: "/c").values.allSatisfy { $0.values.first == 39 })
        }
    }

    @Test func aChangeThatFailsLeavesNothingBehind() throws {
        struct Stop: Error {}
        let catalog = try Place().open()
        let error = #expect(throws: AIError.self) {
            try catalog.write { connection in
                try connection.run("INSERT INTO tags (name) VALUES ('x')")
                throw Stop()
            }
        }
        #expect(error?.cause is Stop)
        #expect(try catalog.read { try $0.first("SELECT count(*) FROM tags") { $0.int(0) } } == 0)
        let wrong = #expect(throws: AIError.self) {
            try catalog.read { _ = try $0.first("SELECT nothing") { $0.int(0) } }
        }
        #expect((wrong?.cause as? SQLiteError)?.sql == "SELECT nothing")
        // The connection is as good as before.
        try catalog.write { try $0.run("INSERT INTO tags (name) VALUES ('x')") }
    }

    @Test func aReadSeesOneStateAlthoughAnotherWrites() throws {
        let place = try Place()
        let (reader, writer) = (try place.open(), try place.open())
        try reader.read { connection in
            let before = try connection.first("SELECT count(*) FROM models") { $0.int(0) }
            try writer.remember([try record("org/name")], at: 1)
            #expect(try connection.first("SELECT count(*) FROM models") { $0.int(0) } == before)
        }
        #expect(try reader.ids(query()) == ["org/name"])
    }
}

@Suite struct ConnectionTests {
    @Test func everyKindOfValueSurvives() throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(folder("x"))
        try connection.execute("CREATE TABLE t (i INTEGER, d REAL, s TEXT) STRICT")
        let texts = ["", "a\u{0}b", "\u{E9}", "e\u{301}", "😀", "'\"--"]
        for text in texts {
            try connection.run("INSERT INTO t VALUES (?, ?, ?)", Int64.min, 0.1, text)
        }
        try connection.run("INSERT INTO t VALUES (?, ?, ?)", nil as Int64?, nil as Double?, nil as String?)
        let rows = try connection.query("SELECT i, d, s FROM t ORDER BY rowid") {
            ($0.optionalInt(0), $0.optionalDouble(1), $0.optionalText(2))
        }
        #expect(rows.dropLast().map { $0.2.map { Array($0.utf8) } } == texts.map { Array($0.utf8) })
        #expect(rows[0].0 == .min && rows[0].1 == 0.1)
        #expect(rows.last?.0 == nil && rows.last?.1 == nil && rows.last?.2 == nil)
        #expect(try connection.first("SELECT 1 WHERE 0") { $0.int(0) } == nil)
    }

    @Test func anErrorIsTypedAndNamesItsStatementWithoutItsValues() throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(folder("x"))
        try connection.execute("CREATE TABLE t (s TEXT UNIQUE)")
        try connection.run("INSERT INTO t VALUES (?)", "hf_secret")
        let error = #expect(throws: SQLiteError.self) {
            try connection.run("INSERT INTO t VALUES (?)", "hf_secret")
        }
        #expect(error?.code == 19 && error?.extendedCode == 2067)
        #expect(error?.sql == "INSERT INTO t VALUES (?)" && error.map { "\($0)".contains("hf_secret") } == false)
    }

    @Test func aReadOnlyConnectionDoesNotMakeAFile() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SQLiteError.self) { _ = try Connection(folder("x"), readOnly: true) }
        #expect(!FileSystem.exists(folder("x")))
    }
}
