public import HubCore

/// A cached revision that is not to be deleted.
public struct Pin: Sendable, Hashable {
    /// The repository's folder in the cache: `models--org--name`.
    public var folder: String
    /// The revision.
    public var commit: Commit
    /// What its owner wrote about it.
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
    /// Pins a revision of a cache folder; one that is pinned already takes the new note and keeps its time.
    public func pin(cache: String, folder: String, commit: Commit, note: String?, at now: Double) throws(AIError) {
        try write(isPrecious: true) { connection in
            try connection.run(
                """
                INSERT INTO pins (cache, folder, "commit", note, pinned_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET note = excluded.note
                """, cache, folder, commit.hash, note, now)
        }
    }

    /// Takes a pin away; whether there was one.
    @discardableResult
    public func unpin(cache: String, folder: String, commit: Commit) throws(AIError) -> Bool {
        try write(isPrecious: true) { connection in
            try connection.run(
                "DELETE FROM pins WHERE cache = ? AND folder = ? AND \"commit\" = ?", cache, folder, commit.hash)
            return connection.changes > 0
        }
    }

    /// The pins of a cache folder, by folder and commit.
    public func pins(ofCache path: String) throws(AIError) -> [Pin] {
        try read { connection in
            try connection.query(
                "SELECT folder, \"commit\", note, pinned_at FROM pins WHERE cache = ? ORDER BY folder, \"commit\"",
                path
            ) { row in
                Commit(row.text(1)).map {
                    Pin(folder: row.text(0), commit: $0, note: row.optionalText(2), pinnedAt: row.double(3))
                }
            }.compactMap { $0 }
        }
    }
}
