package import HubCore

/// The result of rebuilding a catalog.
package struct CatalogRebuild: Sendable, Hashable {
    /// The old file's new path; nil if there was none.
    package var aside: String?
    /// The tables recovered completely, those recovered in part, and the row counts of the new file.
    package var whole: [String] = []
    package var damaged: [String] = []
    package var rows: [String: Int] = [:]
    /// The backup that filled the gaps; nil if none was needed or there is none.
    package var backup: String?

    package init() {}

    /// Rebuilds the catalog at a path beside the old one, which stays in use: `fill` adds the data of the cache and the
    /// Hub. At the end, with the old file locked for writing, the irreplaceable data is copied and the new file takes
    /// its place; other processes use it from their next call.
    ///
    /// - Throws: ``ErrorCode/catalogUnusable`` if the old one is sound and from a newer hub, or busy for 15 seconds;
    ///   ``ErrorCode/permissionDenied``, ``ErrorCode/diskFull``. The old file then stays in place.
    package static func run(_ path: String, fill: (Catalog) throws -> Void) throws(AIError) -> CatalogRebuild {
        try refuseNewer(path)
        try FileSystem.createDirectories(Path.parent(path), mode: 0o700)
        let temporary = "\(path).rebuild-\(FileSystem.randomHex(4)).tmp"
        defer {
            for end in ["", ".lock"] + CatalogSwap.companions { _ = try? FileSystem.remove(temporary + end) }
        }
        do {
            try fill(Catalog(path: temporary))
            let lock = try CatalogLock(ofCatalog: path, shared: false)
            try CatalogSwap.finishLocked(path)
            let result = try exchange(temporary, path)
            _ = consume lock
            return result
        } catch let error as SQLiteError {
            throw error.asAIError(path: path)
        } catch { throw AIError.wrapping(error) }
    }

    /// A sound file from a newer hub must not be replaced; one damaged byte can look like one.
    private static func refuseNewer(_ path: String) throws(AIError) {
        guard FileSystem.exists(path), let old = try? Connection(path, readOnly: true) else { return }
        do { _ = try old.snapshot { try CatalogFile(path: path, notice: { _ in }).version(of: old) } } catch {
            guard let newer = error as? AIError, !newer.isCatalogDamage,
                (try? old.query("PRAGMA quick_check(1)", map: { $0.text(0) })) == ["ok"]
            else { return }
            throw newer
        }
    }

    private static func exchange(_ temporary: String, _ path: String) throws -> CatalogRebuild {
        let old = FileSystem.exists(path) ? try? Connection(path) : nil
        // Keeps writers out until the new file is in place. A file too damaged to lock cannot be written either.
        do throws(SQLiteError) { try old?.execute("BEGIN IMMEDIATE") } catch {
            if error.isBusy { throw error }
        }
        return try withExtendedLifetime(old) {
            var result = try carryOver(from: old, into: temporary, backups: CatalogBackups(path))
            try FileDescriptor(temporary, [.write]).synchronizeData()
            try FileSystem.rename(temporary, to: CatalogSwap.rebuilt(path))
            try FileSystem.synchronizeDirectory(Path.parent(path))
            result.aside = try CatalogSwap.finishLocked(path)
            return result
        }
    }

    private static func carryOver(from old: Connection?, into place: String, backups: CatalogBackups) throws
        -> CatalogRebuild
    {
        let new = try Connection(place)
        var result = CatalogRebuild()
        try new.transaction {
            for table in Schema.keptTables {
                let reading = old.map { TableCopy.salvage(table, in: $0) } ?? .init()
                _ = try TableCopy.insert(reading, into: table, of: new)
                if reading.isWhole { result.whole.append(table) } else { result.damaged.append(table) }
            }
            result.backup = try backups.restore(result.damaged, into: new)
            for table in Schema.keptTables {
                result.rows[table] = try TableCopy.count(table, new)
            }
        }
        // Moves everything into the file that is renamed; closing it would not report a full disk.
        try new.switchJournal(to: "DELETE")
        return result
    }
}
