import CSQLite
public import HubCore
import Synchronization

/// What this machine knows of the Hub and of its caches, in one SQLite file. Nothing in it is needed to read the cache,
/// and it can be made again; what only it knew (pins, times of use) is in a backup beside it.
///
/// All methods block for as long as the disk takes and are safe to call from any thread. Should the file be deleted, or
/// replaced by one that was made again, the next call opens what is there then.
public final class Catalog: Sendable {
    /// The file.
    public let path: String
    private let file: CatalogFile
    private let guarded: Mutex<Guarded>

    /// Lets the mutex hand the connection to any thread: it is reached in no other way.
    private struct Guarded: @unchecked Sendable {
        var connection: Connection
        /// The last day whose backup is known to be there.
        var backedUp = ""
    }

    /// The file under the connection is no longer the catalog.
    private struct Moved: Error {}

    /// The file of the catalog below a state folder.
    public static func path(in stateDirectory: String) -> String { Path.join(stateDirectory, "catalog.sqlite3") }

    /// Opens the catalog, makes it where it is missing, and brings an older one up to date after a backup.
    ///
    /// - Parameter notice: hears what a person should know: that a backup was used, or could not be written.
    /// - Throws: ``ErrorCode/catalogUnusable`` where it is damaged, busy for 15 seconds, or from a newer version;
    ///   ``ErrorCode/permissionDenied``, ``ErrorCode/diskFull``.
    public init(path: String, notice: @escaping @Sendable (String) -> Void = { _ in }) throws(AIError) {
        self.path = path
        file = CatalogFile(path: path, notice: notice)
        do { guarded = Mutex(Guarded(connection: try file.open())) } catch { throw Self.told(error, path) }
    }

    /// Runs queries, all on one state of the catalog however many there are and whoever writes meanwhile; errors of
    /// SQLite leave as ``AIError``.
    package func read<Value>(_ body: (Connection) throws -> Value) throws(AIError) -> Value {
        try use { guarded in
            if guarded.connection.hasMoved { throw Moved() }
            return try guarded.connection.snapshot { try body(guarded.connection) }
        }
    }

    /// Runs changes in one transaction: all or nothing. The day's first leaves a backup.
    ///
    /// - Parameter isPrecious: whether a person asked for this very change, so that the day's backup is written anew.
    package func write<Value>(isPrecious: Bool = false, _ body: (Connection) throws -> Value) throws(AIError)
        -> Value
    {
        try use { guarded in
            let connection = guarded.connection
            let value = try connection.transaction {
                // Who puts another file into the place holds this lock meanwhile, so that nothing is written past it.
                if connection.hasMoved { throw Moved() }
                return try body(connection)
            }
            backUp(&guarded, always: isPrecious)
            return value
        }
    }

    /// Leaves the day's backup where it is missing. That it cannot be written is no fault of the change that was made.
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

    /// Says something that a person should know.
    func tell(_ text: String) { file.notice(text) }

    private func use<Value>(_ body: (inout Guarded) throws -> Value) throws(AIError) -> Value {
        let (path, file) = (path, file)
        // The result is carried out of the lock as a value that only this thread holds.
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

    /// Any error as one that names the catalog.
    private static func told(_ error: any Error, _ path: String) -> AIError {
        if let error = error as? SQLiteError { return error.asAIError(path: path) }
        return AIError.wrapping(error)
    }
}
