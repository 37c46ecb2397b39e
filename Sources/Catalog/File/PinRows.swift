import HubCore

/// The rows of the table `pins`, removed pins included. For a revision the latest change counts, whether from the
/// catalog or from a backup.
enum PinRows {
    struct Row: Sendable, Hashable {
        struct Key: Sendable, Hashable { var cache, folder, commit: String }
        var key: Key
        var note: String?
        var pinnedAt: Double
        var removedAt: Double?
        var changedAt: Double { removedAt ?? pinnedAt }
    }

    /// All rows of a file; nil if it has no such table.
    static func all(_ connection: Connection) throws -> [Row]? {
        guard try !connection.columns(of: "pins").isEmpty else { return nil }
        return try connection.query(
            "SELECT cache, folder, \"commit\", note, pinned_at, removed_at FROM pins"
        ) { row in
            Row(
                key: .init(cache: row.text(0), folder: row.text(1), commit: row.text(2)), note: row.optionalText(3),
                pinnedAt: row.double(4), removedAt: row.optionalDouble(5))
        }
    }

    /// Inserts rows that are missing or have a later change.
    static func merge(_ rows: [Row], into connection: Connection) throws {
        for row in rows {
            try connection.run(
                """
                INSERT INTO pins (cache, folder, "commit", note, pinned_at, removed_at) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET note = excluded.note, pinned_at = excluded.pinned_at,
                    removed_at = excluded.removed_at
                WHERE coalesce(excluded.removed_at, excluded.pinned_at) > coalesce(removed_at, pinned_at)
                """, row.key.cache, row.key.folder, row.key.commit, row.note, row.pinnedAt, row.removedAt)
        }
    }

    /// The rows that a backup lacks.
    static func missing(from rows: [Row], in backup: [Row]) -> [Row] {
        let times = Dictionary(rows.map { ($0.key, $0.changedAt) }) { max($0, $1) }
        return backup.filter { row in times[row.key].map { row.changedAt > $0 } ?? true }
    }
}
