import CSQLite
import HubCore

/// Separates opening a catalog from replacing it: `catalog.sqlite3.lock`, shared for opening, exclusive for moving
/// files. A SQLite file and its write-ahead log find each other by name, and a log that is replayed into another file
/// destroys it. https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use
///
/// Held for milliseconds. Without lock support or write access there is no waiting.
struct CatalogLock: ~Copyable {
    private let file: FileDescriptor?

    /// - Throws: ``ErrorCode/catalogUnusable`` if another process holds it for ``Connection/patience``.
    init(ofCatalog path: String, shared: Bool) throws(AIError) {
        let place = path + ".lock"
        let opened: FileDescriptor
        do throws(AIError) { opened = try FileDescriptor(place, [.write, .create], mode: 0o600) } catch {
            guard shared else { throw error }
            file = nil
            return
        }
        for attempt in 0... {
            if try opened.tryLock(shared: shared) != false { break }
            guard attempt < Connection.patience * 100 else {
                throw AIError(
                    .catalogUnusable, "the catalog \(path) is being made again by another process",
                    advice: "wait for the other hub, then try again", context: .init(path: path))
            }
            sqlite3_sleep(10)
        }
        file = consume opened
    }
}
