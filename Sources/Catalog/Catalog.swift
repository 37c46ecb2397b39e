public import HubCore
import Synchronization

/// What this machine knows of the Hub and of its caches, in one SQLite file. Nothing in it is needed to read the cache:
/// it can be made again, losing only times of last use.
///
/// All methods block for as long as the disk takes and are safe to call from any thread.
public final class Catalog: Sendable {
    /// The file.
    public let path: String
    private let guarded: Mutex<Guarded>

    /// Lets the mutex hand the connection to any thread: it is reached in no other way.
    private struct Guarded: @unchecked Sendable {
        let connection: Connection
    }

    /// The file of the catalog below a state folder.
    public static func path(in stateDirectory: String) -> String { Path.join(stateDirectory, "catalog.sqlite3") }

    /// Opens the catalog, makes it where it is missing, and brings an older one up to date after a backup.
    ///
    /// - Throws: ``ErrorCode/catalogUnusable`` where it is damaged, busy for five seconds, or from a newer version;
    ///   ``ErrorCode/permissionDenied``, ``ErrorCode/diskFull``.
    public init(path: String) throws(AIError) {
        self.path = path
        // Names of private models are nobody else's business.
        try FileSystem.createDirectories(Path.parent(path), mode: 0o700)
        do {
            let connection = try Connection(path)
            // First of all: what a newer hub made is not touched.
            _ = try Self.version(of: connection, path: path)
            try Self.configure(connection, path: path)
            try Self.migrate(connection, path: path)
            self.guarded = Mutex(Guarded(connection: connection))
        } catch let error as SQLiteError {
            throw error.asAIError(path: path)
        } catch {
            throw AIError.wrapping(error)
        }
    }

    /// WAL lets one process read while another writes, but needs shared memory, which network file systems lack.
    /// https://www.sqlite.org/wal.html
    private static func configure(_ connection: Connection, path: String) throws {
        let mode = FileSystem.isOnNetwork(Path.parent(path)) ? "DELETE" : "WAL"
        let current = try connection.first("PRAGMA journal_mode", map: { $0.text(0) })?.uppercased()
        if current != mode { try connection.switchJournal(to: mode) }
        // The pages that a sync touches again and again stay in memory, and go from the log to the file together.
        try connection.execute("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8000")
        // In WAL mode NORMAL can lose the last transactions in a power cut, never the file's integrity.
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON")
    }

    private static func migrate(_ connection: Connection, path: String) throws {
        let known = Schema.migrations.count
        var done = try version(of: connection, path: path)
        guard done != known else { return }
        if done > 0 { try backUp(connection, path: path) }
        // Tables that others refer to are made anew; with this on, dropping the old one would take their rows along. It
        // cannot be changed within a transaction. https://www.sqlite.org/lang_altertable.html#otheralter
        try connection.execute("PRAGMA foreign_keys = OFF")
        try connection.transaction {
            // Another process may have done it between the look and the lock.
            done = try version(of: connection, path: path)
            for migration in Schema.migrations[done...] { try migration.run(connection) }
            try connection.execute("PRAGMA user_version = \(known)")
        }
        try connection.execute("PRAGMA foreign_keys = ON")
    }

    /// The steps of the schema that the file has.
    ///
    /// - Throws: ``ErrorCode/catalogUnusable`` where it has more than are known here.
    private static func version(of connection: Connection, path: String) throws -> Int {
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

    /// Copies the catalog beside it before it is changed. The last backup stays until the new one is whole.
    private static func backUp(_ connection: Connection, path: String) throws {
        let temporary = "\(path).backup.\(FileSystem.randomHex(4)).tmp"
        do {
            try connection.backup(to: temporary)
            try FileSystem.rename(temporary, to: path + ".backup")
        } catch {
            _ = try? FileSystem.remove(temporary)
            throw error
        }
    }

    /// Runs queries, all on one state of the catalog however many there are and whoever writes meanwhile; errors of
    /// SQLite leave as ``AIError``.
    package func read<Value>(_ body: (Connection) throws -> Value) throws(AIError) -> Value {
        try use { connection in try connection.snapshot { try body(connection) } }
    }

    /// Runs changes in one transaction: all or nothing.
    package func write<Value>(_ body: (Connection) throws -> Value) throws(AIError) -> Value {
        try use { connection in try connection.transaction { try body(connection) } }
    }

    private func use<Value>(_ body: (Connection) throws -> Value) throws(AIError) -> Value {
        let path = path
        // The result is carried out of the lock as a value that only this thread holds.
        nonisolated(unsafe) var result: Result<Value, AIError>?
        guarded.withLock { guarded in
            do {
                result = .success(try body(guarded.connection))
            } catch let error as SQLiteError {
                result = .failure(error.asAIError(path: path))
            } catch {
                result = .failure(AIError.wrapping(error))
            }
        }
        return try result!.get()
    }
}
