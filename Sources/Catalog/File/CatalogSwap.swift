import HubCore

/// Replaces a catalog with a rebuilt one.
///
/// The new file is complete and on stable storage when it is named `catalog.sqlite3.rebuilt`; from then on the next
/// process to open the catalog finishes an interrupted swap. The old file and its log become
/// `catalog.sqlite3.damaged-DATE`, dated by the new file, so that both halves of an interrupted move get the same name.
enum CatalogSwap {
    /// The suffixes of SQLite's companion files.
    static let companions = ["-wal", "-shm", "-journal"]

    static func rebuilt(_ path: String) -> String { path + ".rebuilt" }
    static func asidePrefix(_ path: String) -> String { path + ".damaged-" }

    /// Moves the old file aside and the new one into its place, under the lock; does nothing if another process was
    /// faster.
    static func finish(_ path: String) throws(AIError) {
        let lock = try CatalogLock(ofCatalog: path, shared: false)
        try finishLocked(path)
        _ = consume lock
    }

    /// - Returns: the old file's new path; nil if there was none.
    @discardableResult
    static func finishLocked(_ path: String) throws(AIError) -> String? {
        let new = rebuilt(path)
        guard let status = try FileSystem.status(new) else { return nil }
        let aside = try freeName(path, status)
        for end in [""] + companions where FileSystem.exists(path + end) {
            try FileSystem.rename(path + end, to: aside + end)
        }
        try FileSystem.rename(new, to: path)
        try FileSystem.synchronizeDirectory(Path.parent(path))
        return FileSystem.exists(aside) ? aside : nil
    }

    /// The name for the old file. An existing one belongs to this move, unless the old file is still in place.
    private static func freeName(_ path: String, _ new: FileStatus) throws(AIError) -> String {
        let digits = Timestamp.iso8601(new.modified).filter { $0 != "-" && $0 != ":" }
        let name = asidePrefix(path) + digits
        guard FileSystem.exists(path) else { return name }
        var free = name
        var number = 2
        while FileSystem.exists(free) {
            free = "\(name)-\(number)"
            number += 1
        }
        return free
    }
}
