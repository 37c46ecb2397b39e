package import HubCore

/// The state of a catalog's file, for `hub doctor`.
package struct CatalogInspection: Sendable {
    /// The schema's version.
    package var version = 0
    /// What SQLite finds wrong with the file, at most ten of it.
    package var problems: [String] = []
    /// Rows that refer to missing rows.
    package var strayRows = 0
    /// Row counts of some existing tables.
    package var rows: [(table: String, count: Int)] = []

    /// Reads the whole file.
    ///
    /// - Parameter cache: the cache folder whose repositories are counted, not those of others.
    package init(_ catalog: Catalog, cache: String) throws(AIError) {
        (version, problems, strayRows, rows) = try catalog.read { connection in
            func number(_ sql: String) throws -> Int { try connection.first(sql, map: { Int($0.int(0)) }) ?? 0 }
            func cached() throws -> Int {
                let sql = "SELECT count(*) FROM repositories JOIN caches USING (cache) WHERE path = ?"
                return try connection.first(sql, cache, map: { Int($0.int(0)) }) ?? 0
            }
            let said = try connection.query("PRAGMA quick_check(10)", map: { $0.text(0) })
            let tables = Set(
                try connection.query("SELECT name FROM sqlite_schema WHERE type = 'table'", map: { $0.text(0) }))
            let stray = try connection.query("PRAGMA foreign_key_check", map: { $0.text(0) }).count
            let rows = try Self.told.filter(tables.contains).map { table in
                (table: table, count: try table == "repositories" ? cached() : TableCopy.count(table, connection))
            }
            return (try number("PRAGMA user_version"), said == ["ok"] ? [] : said, stray, rows)
        }
    }

    private static let told = ["models", "trees", "repositories", "pins", "uses"]

    /// A file beside the catalog.
    package struct Companion: Sendable {
        package var path: String
        package var size: Int64
        package var time: Double
    }

    /// Bytes of the catalog and its log; nil if there is no catalog.
    package static func size(_ path: String) throws(AIError) -> Int64? {
        guard let status = try FileSystem.status(path) else { return nil }
        return status.size + (try FileSystem.status(path + "-wal")?.size ?? 0)
    }

    /// The backups, the newest first.
    package static func backups(_ path: String) throws(AIError) -> [Companion] {
        try CatalogBackups(path).all().map { Companion(path: $0.path, size: $0.size, time: $0.time) }
    }

    /// Damaged catalogs moved aside, the oldest first; sizes include the log.
    package static func putAside(_ path: String) throws(AIError) -> [Companion] {
        let start = Path.name(CatalogSwap.asidePrefix(path))
        var out: [Companion] = []
        for name in try FileSystem.entries(Path.parent(path)) ?? []
        where name.hasPrefix(start) && !CatalogSwap.companions.contains(where: name.hasSuffix) {
            let place = Path.join(Path.parent(path), name)
            guard let status = try FileSystem.status(place), let size = try size(place) else { continue }
            out.append(Companion(path: place, size: size, time: status.modified))
        }
        return out
    }
}
