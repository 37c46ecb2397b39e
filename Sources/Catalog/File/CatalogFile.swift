import HubCore

/// The file of a catalog: how it is opened, made, brought up to date, and replaced by another.
struct CatalogFile: Sendable {
    let path: String
    /// Hears what a person should know.
    let notice: @Sendable (String) -> Void

    /// A connection to a catalog of today's tables.
    ///
    /// - Throws: ``SQLiteError``, ``AIError``.
    func open() throws -> Connection {
        // Names of private models are nobody else's business.
        try FileSystem.createDirectories(Path.parent(path), mode: 0o700)
        let lock = try lockedForOpening()
        let connection = try Connection(path)
        // First of all: what a newer hub made is not touched.
        let version = try version(of: connection)
        try configure(connection)
        // From here on nobody can put another file into the place without this connection hearing of it.
        _ = consume lock
        if version < Schema.migrations.count { try migrate(connection, from: version) }
        return connection
    }

    /// The lock, once no replacement is left unfinished.
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
        // The pages that a sync touches again and again stay in memory, and go from the log to the file together.
        try connection.execute("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 32768")
        // In WAL mode NORMAL can lose the last transactions in a power cut, never the file's integrity. A damaged file
        // is noticed earlier, and does nothing of its own. https://www.sqlite.org/security.html
        // On macOS a plain fsync leaves data in the drive's own memory; elsewhere fullfsync changes nothing.
        try connection.execute("PRAGMA fullfsync = ON")
        try connection.execute(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"
        )
    }

    private func migrate(_ connection: Connection, from version: Int) throws {
        // A step of the schema can go wrong in ways that no test has seen; nothing else is lost with the file.
        if version > 0 { try CatalogBackups(path).make(of: connection, suffix: "-v\(version)") }
        var origin: String?
        // Tables that others refer to are made anew; with this on, dropping the old one would take their rows along. It
        // cannot be changed within a transaction. https://www.sqlite.org/lang_altertable.html#otheralter
        try connection.execute("PRAGMA foreign_keys = OFF")
        try connection.transaction {
            // Another process may have done it between the look and the lock.
            let done = try self.version(of: connection)
            for migration in Schema.migrations[done...] { try migration.run(connection) }
            try connection.execute("PRAGMA user_version = \(Schema.migrations.count)")
            if done == 0 { origin = try CatalogBackups(path).restore(into: connection) }
        }
        try connection.execute("PRAGMA foreign_keys = ON")
        if let origin { notice("the catalog was missing; pins and times of use come from its backup \(origin)") }
    }

    /// The steps of the schema that the file has.
    ///
    /// - Throws: ``ErrorCode/catalogUnusable`` where it has more than are known here.
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
