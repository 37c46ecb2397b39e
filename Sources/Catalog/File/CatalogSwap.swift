import HubCore

/// Puts a catalog that was made again into the place of another.
///
/// The new file is whole and on stable storage when it is named `catalog.sqlite3.rebuilt`; from then on whoever opens
/// the catalog finishes what a killed process has begun. The old file goes aside together with its log, as
/// `catalog.sqlite3.damaged-DATE`, by the time at which the new one was written, so that both halves of an interrupted
/// move get one name.
enum CatalogSwap {
    /// What SQLite keeps beside a file, by the ends of their names.
    static let companions = ["-wal", "-shm", "-journal"]

    static func rebuilt(_ path: String) -> String { path + ".rebuilt" }
    static func asidePrefix(_ path: String) -> String { path + ".damaged-" }

    /// Moves the old file aside and the new one into its place, holding the lock; nothing where another was faster.
    static func finish(_ path: String) throws(AIError) {
        let lock = try CatalogLock(ofCatalog: path, shared: false)
        try finishLocked(path)
        _ = consume lock
    }

    /// - Returns: where the old file is now; nil where there was none.
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

    /// The name for the old file. One that is there already belongs to this move, unless the old file is still in its
    /// place.
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
