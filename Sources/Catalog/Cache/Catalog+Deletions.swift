package import HubCore

/// A deletion that was begun and may be unfinished.
package struct BegunDeletion: Sendable, Hashable {
    /// Its row; 0 before it has one.
    package var row: Int64 = 0
    /// The repository's folder in the cache; empty for a payload of the shared store only.
    package var folder: String
    /// The deleted revision; nil if only files are deleted.
    package var commit: Commit?
    /// Deleted entries of `blobs/`.
    package var names: [String]
    /// Payloads of the shared store that may be deleted with them.
    package var payloads: [String]
    /// Seconds since 1970.
    package var beganAt: Double

    package init(folder: String, commit: Commit?, names: [String], payloads: [String], beganAt: Double) {
        (self.folder, self.commit, self.names) = (folder, commit, names)
        (self.payloads, self.beganAt) = (payloads, beganAt)
    }
}

extension Catalog {
    /// Records deletions that are about to begin; returns their rows, in the same order.
    package func begin(_ deletions: [BegunDeletion], inCache path: String) throws(AIError) -> [Int64] {
        try write { connection in
            try deletions.map { deletion in
                try connection.run(
                    """
                    INSERT INTO deletions (cache, folder, "commit", names, payloads, began_at)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """, path, deletion.folder, deletion.commit?.hash, Self.list(deletion.names),
                    Self.list(deletion.payloads), deletion.beganAt)
                return connection.lastInsertedRow
            }
        }
    }

    /// Removes finished deletions.
    package func end(deletions rows: [Int64]) throws(AIError) {
        try write { connection in
            for row in rows { try connection.run("DELETE FROM deletions WHERE deletion = ?", row) }
        }
    }

    /// The unfinished deletions of a cache, in the order in which they began.
    package func begunDeletions(inCache path: String) throws(AIError) -> [BegunDeletion] {
        try read { connection in
            try connection.query(
                """
                SELECT deletion, folder, "commit", names, payloads, began_at FROM deletions
                WHERE cache = ? ORDER BY deletion
                """, path
            ) { row in
                var deletion = BegunDeletion(
                    folder: row.text(1), commit: row.optionalText(2).flatMap(Commit.init),
                    names: Self.list(row.text(3)),
                    payloads: Self.list(row.text(4)), beganAt: row.double(5))
                deletion.row = row.int(0)
                return deletion
            }
        }
    }

    private static func list(_ names: [String]) -> String { JSON.array(names.map { .string($0) }).text() }
    /// An unreadable list counts as empty; a later run's plan finds the files again.
    private static func list(_ text: String) -> [String] {
        ((try? JSON.parse(text))?.array ?? []).compactMap(\.string)
    }
}
