public import HubCore

/// A cached revision that must not be deleted.
public struct Pin: Sendable, Hashable {
    /// The repository's folder in the cache: `models--org--name`.
    public var folder: String
    /// The revision.
    public var commit: Commit
    /// The user's note.
    public var note: String?
    /// When it was pinned, seconds since 1970.
    public var pinnedAt: Double

    /// A pin.
    public init(folder: String, commit: Commit, note: String?, pinnedAt: Double) {
        self.folder = folder
        self.commit = commit
        self.note = note
        self.pinnedAt = pinnedAt
    }
}

extension Catalog {
    /// Pins a revision of a cache. One that is pinned already keeps its time, and its note unless there is a new one.
    ///
    /// - Parameter cache: the cache's key.
    public func pin(cache: String, folder: String, commit: Commit, note: String?, at now: Double) throws(AIError) {
        try write(isPrecious: true) { connection in
            try connection.run(
                """
                INSERT INTO pins (cache, folder, "commit", note, pinned_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET note = coalesce(excluded.note, note), removed_at = NULL,
                    pinned_at = iif(removed_at IS NULL, pinned_at, max(excluded.pinned_at, removed_at))
                """, cache, folder, commit.hash, note, now)
        }
    }

    /// Removes a pin; returns whether there was one.
    @discardableResult
    public func unpin(cache: String, folder: String, commit: Commit) throws(AIError) -> Bool {
        try unpin(cache: cache, folder: folder, commit: commit, at: Timestamp.now)
    }

    func unpin(cache: String, folder: String, commit: Commit, at now: Double) throws(AIError) -> Bool {
        try write(isPrecious: true) { connection in
            try connection.run(
                """
                UPDATE pins SET removed_at = max(?, pinned_at), note = NULL
                WHERE cache = ? AND folder = ? AND "commit" = ? AND removed_at IS NULL
                """, now, cache, folder, commit.hash)
            return connection.changes > 0
        }
    }

    /// The pins of a cache, by folder and commit. Pins lost from the catalog by a truncated log or a damaged page come
    /// from the newest backup, which every change of a pin updates.
    public func pins(ofCache key: String) throws(AIError) -> [Pin] {
        var rows = try read { try PinRows.all($0) ?? [] }
        if let backup = CatalogBackups(path).pins() {
            let lost = PinRows.missing(from: rows, in: backup.rows)
            if !lost.isEmpty {
                rows = rows.filter { row in !lost.contains { $0.key == row.key } } + lost
                putBack(lost, from: backup.path)
            }
        }
        return rows.filter { $0.key.cache == key }.compactMap(\.pin).sorted {
            ($0.folder, $0.commit.hash) < ($1.folder, $1.commit.hash)
        }
    }

    private func putBack(_ lost: [PinRows.Row], from backup: String) {
        do throws(AIError) {
            try write(isPrecious: true) { try PinRows.merge(lost, into: $0) }
            tell("the catalog had lost changes of pins; they were restored from its backup \(backup)")
        } catch {
            // The pins stay valid: the next reader finds them in the backup again.
            tell("the catalog has lost changes of pins; they are read from its backup \(backup): \(error.message)")
        }
    }

    /// All pins in a catalog's backups, for use when there is no catalog and none can be created.
    package static func backedUpPins(_ path: String) -> [Pin] {
        CatalogBackups(path).pins()?.rows.compactMap(\.pin) ?? []
    }
}

extension PinRows.Row {
    /// The pin; nil where it was removed.
    fileprivate var pin: Pin? {
        guard removedAt == nil, let commit = Commit(key.commit) else { return nil }
        return Pin(folder: key.folder, commit: commit, note: note, pinnedAt: pinnedAt)
    }
}
