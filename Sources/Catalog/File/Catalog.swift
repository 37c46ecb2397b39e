import CSQLite
public import HubCore

/// This machine's knowledge of the Hub and of its caches, in one SQLite file. It is not needed to read the cache and
/// can be rebuilt; data that exists only here (pins, times of use) is backed up beside it.
///
/// All methods block on disk access and are safe to call from any thread. If the file is deleted or replaced by a
/// rebuilt one, the next call opens the new file.
public final class Catalog: Sendable {
    /// The file.
    public let path: String
    private let file: CatalogFile
    private let guarded: Lock<Guarded>

    /// Makes the connection Sendable: it is accessed only through the lock.
    private struct Guarded: @unchecked Sendable {
        var connection: CatalogConnection
        /// The last day whose backup is known to be there.
        var backedUp = ""
    }

    /// The connection's file is no longer the catalog.
    private struct Moved: Error {}

    /// The file of the catalog below a state folder.
    public static func path(in stateDirectory: String) -> String { Path.join(stateDirectory, "catalog.sqlite3") }

    /// Opens the catalog, creates it if missing, and updates an older one after a backup.
    ///
    /// - Parameter notice: hears what a person should know: that a backup was used, or could not be written.
    /// - Throws: ``ErrorCode/catalogUnusable`` where it is damaged, no catalog, busy for 15 seconds, or from a newer
    ///   version; ``ErrorCode/permissionDenied``, ``ErrorCode/diskFull``.
    public convenience init(path: String, notice: @escaping @Sendable (String) -> Void = { _ in }) throws(AIError) {
        try self.init(path: path, schema: .current, notice: notice)
    }

    /// The same with tables of any version, for tests of what a later one does.
    init(path: String, schema: Schema, notice: @escaping @Sendable (String) -> Void = { _ in }) throws(AIError) {
        self.path = path
        file = CatalogFile(path: path, schema: schema, notice: notice)
        do { guarded = Lock(Guarded(connection: try file.open())) } catch { throw Self.told(error, path) }
    }

    /// Runs queries, all on one state of the catalog however many there are and whoever writes meanwhile; errors of
    /// SQLite leave as ``AIError``.
    package func read<Value>(_ body: (CatalogConnection) throws -> Value) throws(AIError) -> Value {
        try use { guarded in
            if guarded.connection.hasMoved { throw Moved() }
            return try guarded.connection.snapshot { try body(guarded.connection) }
        }
    }

    /// Runs changes in one transaction: all or nothing. The first of a day writes a backup.
    ///
    /// - Parameter isPrecious: whether a person asked for this very change, so that the day's backup is written anew.
    package func write<Value>(isPrecious: Bool = false, _ body: (CatalogConnection) throws -> Value) throws(AIError)
        -> Value
    {
        try use { guarded in
            let connection = guarded.connection
            let value = try connection.transaction {
                // A process that replaces the file holds this lock, so no write goes to the old file.
                if connection.hasMoved { throw Moved() }
                return try body(connection)
            }
            backUp(&guarded, always: isPrecious)
            return value
        }
    }

    /// Writes the day's backup if missing. A failure does not fail the change.
    private func backUp(_ guarded: inout Guarded, always: Bool) {
        let now = Timestamp.now
        let day = CatalogBackups.day(now)
        guard always || guarded.backedUp != day else { return }
        let backups = CatalogBackups(path)
        do {
            let isThere = !always && backups.exists(day: day)
            if try isThere || backups.make(of: guarded.connection, at: now) { guarded.backedUp = day }
        } catch {
            guarded.backedUp = day
            file.notice("the catalog could not be backed up: \(Self.told(error, path).message)")
        }
    }

    /// Reports a message for people.
    func tell(_ text: String) { file.notice(text) }

    private func use<Value>(_ body: (inout Guarded) throws -> Value) throws(AIError) -> Value {
        let (path, file) = (path, file)
        // The result leaves the lock as a value that only this thread holds.
        nonisolated(unsafe) var result: Result<Value, AIError>?
        guarded.withLock { guarded in
            do {
                while true {
                    do {
                        result = .success(try body(&guarded))
                        return
                    } catch is Moved { guarded.connection = try file.open() }
                }
            } catch {
                result = .failure(Self.told(error, path))
            }
        }
        return try result!.get()
    }

    /// Converts any error to one that names the catalog.
    private static func told(_ error: any Error, _ path: String) -> AIError {
        if let error = error as? SQLiteError { return error.asAIError(path: path) }
        return AIError.wrapping(error)
    }
}
