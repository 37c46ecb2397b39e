import CSQLite
package import HubCore

/// A file of SQLite beside the catalog, with tables of its own.
///
/// All methods block on disk access and are safe to call from any thread. If the file is deleted or replaced, the next
/// call opens the new one.
package final class StateFile: Sendable {
    /// What a file holds.
    package struct Kind: Sendable {
        /// In errors.
        package var name: SQLiteError.FileName
        /// Four letters that say in the file's header whose it is.
        package var application: Int
        /// Whether nothing else could restore it: what a transaction wrote is then on stable storage when it returns.
        package var isPrecious: Bool
        /// The statements that lead to each version from the one before, the first from an empty file.
        package var versions: [String]

        package init(name: SQLiteError.FileName, application: Int, isPrecious: Bool, versions: [String]) {
            (self.name, self.application, self.isPrecious, self.versions) = (
                name, application, isPrecious, versions
            )
        }
    }

    package let path: String
    private let kind: Kind
    private let guarded: Lock<Guarded>

    /// Makes the connection Sendable: it is accessed only through the lock.
    private struct Guarded: @unchecked Sendable {
        var connection: Connection
    }

    private struct Moved: Error {}

    /// Opens a file, creates it if missing, and updates an older one.
    ///
    /// - Throws: the kind's code where it is damaged, not hub's, busy for 15 seconds, or from a newer version;
    ///   ``ErrorCode/permissionDenied``, ``ErrorCode/diskFull``.
    package init(_ path: String, _ kind: Kind) throws(AIError) {
        (self.path, self.kind) = (path, kind)
        do { guarded = Lock(Guarded(connection: try Self.open(path, kind))) } catch {
            throw Self.told(error, path, kind)
        }
    }

    private static func open(_ path: String, _ kind: Kind) throws -> Connection {
        // What people say is nobody else's business.
        try FileSystem.createDirectories(Path.parent(path), mode: 0o700)
        let connection = try Connection(path)
        // Of one state of the file: another process may be making the tables.
        let version = try connection.snapshot { try self.version(of: connection, path, kind) }
        try connection.configure(path, isPrecious: kind.isPrecious)
        // What is removed is not left in free pages.
        try connection.execute("PRAGMA secure_delete = ON")
        guard version < kind.versions.count else { return connection }
        try FileSystem.setMode(path, 0o600)
        try connection.transaction {
            // Another process may have made the tables.
            let done = try self.version(of: connection, path, kind)
            guard done < kind.versions.count else { return }
            for statements in kind.versions.dropFirst(done) { try connection.execute(statements) }
            try connection.execute(
                "PRAGMA application_id = \(kind.application); PRAGMA user_version = \(kind.versions.count)")
        }
        return connection
    }

    private static func version(of connection: Connection, _ path: String, _ kind: Kind) throws -> Int {
        func number(_ sql: String) throws -> Int { try connection.first(sql, map: { Int($0.int(0)) }) ?? 0 }
        let (version, application) = (try number("PRAGMA user_version"), try number("PRAGMA application_id"))
        if application == kind.application, (1...kind.versions.count).contains(version) { return version }
        if application == 0, version == 0, try number("SELECT count(*) FROM sqlite_schema") == 0 { return 0 }
        let isNewer = application == kind.application
        throw AIError(
            kind.name.code,
            isNewer
                ? "\(kind.name.name) \(path) has version \(version), this hub knows versions up to \(kind.versions.count)"
                : "\(path) is not \(kind.name.name)",
            advice: isNewer
                ? "a newer hub made it: use that one" : "move it away, or set HUB_HOME to another folder",
            context: .init(path: path))
    }

    /// Runs queries on one state of the file; errors of SQLite leave as ``AIError``.
    package func read<Value>(_ body: (Connection) throws -> Value) throws(AIError) -> Value {
        try use { connection in try connection.snapshot { try body(connection) } }
    }

    /// Runs changes in one transaction: all or nothing.
    package func write<Value>(_ body: (Connection) throws -> Value) throws(AIError) -> Value {
        try use { connection in
            try connection.transaction {
                if connection.hasMoved { throw Moved() }
                return try body(connection)
            }
        }
    }

    private func use<Value>(_ body: (Connection) throws -> Value) throws(AIError) -> Value {
        let (path, kind) = (path, kind)
        // The result leaves the lock as a value that only this thread holds.
        nonisolated(unsafe) var result: Result<Value, AIError>?
        guarded.withLock { guarded in
            do {
                while true {
                    do {
                        if guarded.connection.hasMoved { throw Moved() }
                        result = .success(try body(guarded.connection))
                        return
                    } catch is Moved { guarded.connection = try Self.open(path, kind) }
                }
            } catch {
                result = .failure(Self.told(error, path, kind))
            }
        }
        return try result!.get()
    }

    private static func told(_ error: any Error, _ path: String, _ kind: Kind) -> AIError {
        if let error = error as? SQLiteError { return error.asAIError(path: path, kind.name) }
        return AIError.wrapping(error)
    }
}
