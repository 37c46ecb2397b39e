import HubCore

/// The file of a catalog: opening, creation, migration and replacement.
struct CatalogFile: Sendable {
    let path: String
    /// Called with messages for people.
    let notice: @Sendable (String) -> Void

    /// A connection to a catalog with the current schema.
    ///
    /// - Throws: ``SQLiteError``, ``AIError``.
    func open() throws -> Connection {
        // Names of private models must not be readable by others.
        try FileSystem.createDirectories(Path.parent(path), mode: 0o700)
        let lock = try lockedForOpening()
        let connection = try Connection(path)
        // First: a newer hub's catalog must not be touched.
        let version = try version(of: connection)
        try configure(connection)
        // From here on this connection notices a replacement of the file.
        _ = consume lock
        if version < Schema.migrations.count { try migrate(connection, from: version) }
        return connection
    }

    /// The lock, after any unfinished replacement is completed.
    private func lockedForOpening() throws(AIError) -> CatalogLock {
        while true {
            let lock = try CatalogLock(ofCatalog: path, shared: true)
            if !FileSystem.exists(CatalogSwap.rebuilt(path)) { return lock }
            _ = consume lock
            try CatalogSwap.finish(path)
        }
    }

    /// WAL lets one process read while another writes, but needs shared memory, which network file systems lack.
    /// https://www.sqlite.org/wal.html
    private func configure(_ connection: Connection) throws {
        let mode = FileSystem.isOnNetwork(Path.parent(path)) ? "DELETE" : "WAL"
        let current = try connection.first("PRAGMA journal_mode", map: { $0.text(0) })?.uppercased()
        if current != mode { try connection.switchJournal(to: mode) }
        // Pages that a sync touches repeatedly stay in memory and are checkpointed together.
        try connection.execute("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 32768")
        // In WAL mode NORMAL can lose the last transactions in a power cut, never the file's integrity. The last two
        // settings detect damage earlier and disable code in the schema. https://www.sqlite.org/security.html On macOS
        // a plain fsync leaves data in the drive's cache; elsewhere fullfsync has no effect.
        try connection.execute("PRAGMA fullfsync = ON")
        try connection.execute(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"
        )
    }

    private func migrate(_ connection: Connection, from version: Int) throws {
        // A migration can fail in unforeseen ways, so the irreplaceable data is saved first.
        if version > 0 { try CatalogBackups(path).make(of: connection, suffix: "-v\(version)") }
        var origin: String?
        // Referenced tables are recreated; with foreign keys on, dropping the old one would delete the referring rows.
        // It cannot be changed within a transaction. https://www.sqlite.org/lang_altertable.html#otheralter
        try connection.execute("PRAGMA foreign_keys = OFF")
        try connection.transaction {
            // Another process may have migrated it before the lock.
            let done = try self.version(of: connection)
            for migration in Schema.migrations[done...] { try migration.run(connection) }
            try connection.execute("PRAGMA user_version = \(Schema.migrations.count)")
            if done == 0 { origin = try CatalogBackups(path).restore(into: connection) }
        }
        try connection.execute("PRAGMA foreign_keys = ON")
        if let origin { notice("the catalog was missing; pins and times of use come from its backup \(origin)") }
    }

    /// The number of schema steps of the file.
    ///
    /// - Throws: ``ErrorCode/catalogUnusable`` if it has more than are known here.
    func version(of connection: Connection) throws -> Int {
        let done = try connection.first("PRAGMA user_version", map: { Int($0.int(0)) }) ?? 0
        let known = Schema.migrations.count
        guard (0...known).contains(done) else {
            throw AIError(
                .catalogUnusable, "the catalog \(path) has version \(done), this hub knows versions up to \(known)",
                advice: "a newer hub made it: use that one, or set HUB_HOME to another folder",
                context: .init(path: path))
        }
        return done
    }
}
