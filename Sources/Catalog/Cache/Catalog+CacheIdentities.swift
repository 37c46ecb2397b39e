package import HubCore

/// A cache known to the catalog.
package struct KnownCache: Sendable, Hashable {
    /// The id in the cache's own file, the key of its records.
    package var id: String
    /// Its last path.
    package var path: String
    package var device: UInt64
    package var inode: UInt64

    package init(id: String, path: String, device: UInt64, inode: UInt64) {
        (self.id, self.path, self.device, self.inode) = (id, path, device, inode)
    }
}

extension Catalog {
    package func knownCaches() throws(AIError) -> [KnownCache] {
        try read { connection in
            try connection.query("SELECT id, path, device, inode FROM cache_ids") { row in
                KnownCache(
                    id: row.text(0), path: row.text(1), device: UInt64(bitPattern: row.int(2)),
                    inode: UInt64(bitPattern: row.int(3)))
            }
        }
    }

    /// Whether there are records with this key.
    package func hasRecords(ofCache key: String) throws(AIError) -> Bool {
        try read { connection in
            try connection.first(
                """
                SELECT 1 FROM pins WHERE cache = ?1 AND removed_at IS NULL
                UNION ALL SELECT 1 FROM uses WHERE cache = ?1 UNION ALL SELECT 1 FROM choices WHERE cache = ?1 LIMIT 1
                """, key, map: { _ in true }) ?? false
        }
    }

    /// Records a cache and its current path.
    ///
    /// - Parameters:
    ///   - old: the previous key of its records; nil if that is its id.
    ///   - isCopy: whether the records also remain under the old key.
    ///   - known: the caches that the caller knew of. One recorded at this path since then keeps its id.
    ///   - before: runs first, while no other process can record a cache.
    /// - Returns: the id of the cache at this path.
    @discardableResult
    package func remember(
        _ cache: KnownCache, recordsOf old: String? = nil, isCopy: Bool = false, knowing known: [KnownCache]? = nil,
        at now: Double, before: () throws -> Void = {}
    ) throws(AIError) -> String {
        try write(isPrecious: old != nil) { connection in
            let (device, inode) = (Int64(bitPattern: cache.device), Int64(bitPattern: cache.inode))
            let other = try connection.first(
                "SELECT id FROM cache_ids WHERE device = ? AND inode = ?", device, inode, map: { $0.text(0) })
            if let known, let other, !known.contains(where: { $0.id == other }) { return other }
            try before()
            try connection.run("DELETE FROM cache_ids WHERE device = ? AND inode = ?", device, inode)
            try connection.run(
                "INSERT OR REPLACE INTO cache_ids (id, path, device, inode) VALUES (?, ?, ?, ?)", cache.id,
                cache.path, device, inode)
            guard let old, old != cache.id else { return cache.id }
            let rows = (try PinRows.all(connection) ?? []).filter { $0.key.cache == old && $0.removedAt == nil }
            try PinRows.merge(
                rows.map { row in
                    var row = row
                    row.key.cache = cache.id
                    return row
                }, into: connection)
            try connection.run(
                """
                INSERT INTO uses (cache, folder, "commit", used_at)
                SELECT ?, folder, "commit", used_at FROM uses WHERE cache = ?
                ON CONFLICT DO UPDATE SET used_at = max(used_at, excluded.used_at)
                """, cache.id, old)
            try connection.run(
                """
                INSERT OR IGNORE INTO choices (cache, folder, "commit", choice, chosen_at)
                SELECT ?, folder, "commit", choice, chosen_at FROM choices WHERE cache = ?
                """, cache.id, old)
            guard !isCopy else { return cache.id }
            try connection.run("DELETE FROM uses WHERE cache = ?", old)
            try connection.run("DELETE FROM choices WHERE cache = ?", old)
            try connection.run(
                "UPDATE pins SET removed_at = max(?, pinned_at) WHERE cache = ? AND removed_at IS NULL", now, old)
            return cache.id
        }
    }
}
