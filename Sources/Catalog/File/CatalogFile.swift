import CSQLite
import HubCore

/// The file of a catalog: opening, creation, migration and replacement.
struct CatalogFile: Sendable {
    let path: String
    var schema = Schema.current
    /// Hears what a person should know.
    let notice: @Sendable (String) -> Void

    /// A connection to a catalog with the tables of ``schema``.
    ///
    /// - Throws: ``SQLiteError``, ``AIError``.
    func open() throws -> CatalogConnection {
        // Names of private models are nobody else's business.
        try FileSystem.createDirectories(Path.parent(path), mode: 0o700)
        let lock = try lockedForOpening()
        let connection = try CatalogConnection(path)
        // First of all: what a newer hub or another program made is not touched.
        let version = try connection.snapshot { try self.version(of: connection) }
        try configure(connection)
        // From here on this connection notices a replacement of the file.
        _ = consume lock
        if version < schema.version { try update(connection, from: version) }
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

    private func configure(_ connection: Connection) throws {
        try connection.configure(path)
        // Pages that a sync touches repeatedly stay in memory and are checkpointed together.
        try connection.execute("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 32768")
    }

    /// Runs the statements of the versions that the file lacks, in one transaction.
    private func update(_ connection: Connection, from version: Int) throws {
        // They can go wrong in ways that no test has seen; nothing else is lost with the file.
        if version > 0 { try CatalogBackups(path).make(of: connection, suffix: "-v\(version)") }
        var origin: String?
        // A table that others refer to may be made anew; with this on, dropping the old one would take their rows along. It
        // cannot be changed within a transaction. https://www.sqlite.org/lang_altertable.html#otheralter
        try connection.execute("PRAGMA foreign_keys = OFF")
        try connection.transaction {
            // Another process may have migrated it before the lock.
            let done = try self.version(of: connection)
            for statements in schema.versions.dropFirst(done) { try connection.execute(statements) }
            try connection.execute("PRAGMA user_version = \(schema.version)")
            if done == 0 { origin = try CatalogBackups(path).restore(into: connection) }
        }
        try connection.execute("PRAGMA foreign_keys = ON")
        if let origin { notice("the catalog was missing; pins and times of use come from its backup \(origin)") }
    }

    /// The version of the file's tables; 0 where it has none. Within a transaction.
    ///
    /// - Throws: ``ErrorCode/catalogUnusable`` where it is newer than ``schema``, and, as damage, where the file is no
    ///   catalog or from before version 1.
    func version(of connection: Connection) throws -> Int {
        func number(_ sql: String) throws -> Int { try connection.first(sql, map: { Int($0.int(0)) }) ?? 0 }
        let version = try number("PRAGMA user_version")
        let application = try number("PRAGMA application_id")
        if application == Schema.applicationID, version > schema.version {
            throw AIError(
                .catalogUnusable,
                "the catalog \(path) has version \(version), this hub knows versions up to \(schema.version)",
                advice: "a newer hub made it: use that one, or set HUB_HOME to another folder",
                context: .init(path: path))
        }
        if application == Schema.applicationID, version > 0 { return version }
        guard application == 0, version == 0, try number("SELECT count(*) FROM sqlite_schema") == 0 else {
            let message = "\(path) is not a catalog that this hub can read"
            throw AIError(
                .catalogUnusable, message, context: .init(path: path),
                cause: SQLiteError(extendedCode: SQLITE_NOTADB, message: message))
        }
        return 0
    }
}
