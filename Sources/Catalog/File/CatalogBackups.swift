import HubCore

/// Copies of what cannot be made again, beside the catalog: `catalog.sqlite3.backup-2026-01-02`, one for each day on
/// which something was written, and `catalog.sqlite3.backup-2026-01-02-v4` from before a change of the schema. Each is a
/// small SQLite file that holds the tables of ``Schema/keptTables`` alone.
struct CatalogBackups: Sendable {
    private let path: String
    /// The number of daily backups to keep, and of schema backups.
    static let mostDays = 7
    static let mostVersions = 3
    /// The age in seconds after which an unfinished file of a killed process is removed.
    private static let staleSeconds = 3600.0

    init(_ path: String) { self.path = path }

    private var prefix: String { path + ".backup" }

    /// The day of a time, as used in backup names.
    static func day(_ now: Double) -> String { String(Timestamp.iso8601(now).prefix(10)) }

    /// Whether the day's backup exists.
    func exists(day: String) -> Bool { FileSystem.exists("\(prefix)-\(day)") }

    /// The backups, the newest first, with their size and time.
    func all() throws(AIError) -> [(path: String, size: Int64, time: Double)] {
        var found: [(path: String, size: Int64, time: Double)] = []
        for name in try names()
        where !name.hasSuffix(".tmp") && !CatalogSwap.companions.contains(where: name.hasSuffix) {
            let place = Path.join(Path.parent(path), name)
            if let status = try FileSystem.status(place), status.kind == .file {
                found.append((place, status.size, status.modified))
            }
        }
        return found.sorted { ($0.time, $0.path) > ($1.time, $1.path) }
    }

    private func names() throws(AIError) -> [String] {
        let start = Path.name(prefix)
        return (try FileSystem.entries(Path.parent(path)) ?? []).filter { $0.hasPrefix(start) }
    }

    /// Writes a backup, unless there is nothing to keep and none that would bring it back, and lets the oldest go; whether
    /// one was written. Others read and write the catalog meanwhile.
    @discardableResult
    func make(of connection: Connection, at now: Double = Timestamp.now, suffix: String = "") throws -> Bool {
        let tables = try connection.snapshot {
            try Schema.keptTables.map { ($0, try TableCopy.rows(of: $0, in: connection)) }
        }
        // Cache ids need no backup: they are in the caches.
        let isWorthIt = tables.contains { $0.0 != "cache_ids" && !$0.1.rows.isEmpty }
        guard try isWorthIt || !all().isEmpty else { return false }
        let version = try connection.first("PRAGMA user_version", map: { $0.int(0) }) ?? 0
        let name = "\(prefix)-\(Self.day(now))\(suffix)"
        let temporary = "\(name).\(FileSystem.randomHex(4)).tmp"
        do {
            try write(tables, version: version, from: connection, to: temporary)
            try FileDescriptor(temporary, [.write]).synchronizeData()
            try FileSystem.rename(temporary, to: name)
        } catch {
            _ = try? FileSystem.remove(temporary)
            throw error
        }
        try prune(at: now)
        return true
    }

    private func write(
        _ tables: [(String, TableCopy.Reading)], version: Int64, from source: Connection, to place: String
    ) throws {
        let copy = try Connection(place)
        // The file gets its name only after it is on stable storage.
        try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        try copy.transaction {
            for (table, reading) in tables where !reading.columns.isEmpty {
                let sql = try source.first(
                    "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", table, map: { $0.text(0) })
                try copy.execute(sql ?? "")
                _ = try TableCopy.insert(reading, into: table, of: copy)
            }
            // Pins lost from the catalog are kept.
            if let older = pins() { try PinRows.merge(older.rows, into: copy) }
            try copy.execute("PRAGMA user_version = \(version)")
        }
    }

    /// Removes the oldest of each kind, and unfinished files of killed processes.
    private func prune(at now: Double) throws(AIError) {
        let folder = Path.parent(path)
        let start = Path.name(prefix) + "-"
        let names = try names()
        for name in names where name.hasSuffix(".tmp") {
            let place = Path.join(folder, name)
            if let status = try FileSystem.status(place), now - status.modified > Self.staleSeconds {
                try FileSystem.remove(place)
            }
        }
        let ours = names.filter { $0.hasPrefix(start) && !$0.hasSuffix(".tmp") }
        let days = ours.filter { $0.utf8.count == start.utf8.count + 10 }
        let versions = ours.filter { $0.utf8.count > start.utf8.count + 10 }
        for name in days.dropLast(Self.mostDays) + versions.dropLast(Self.mostVersions) {
            try FileSystem.remove(Path.join(folder, name))
        }
    }

    /// The pins, removed ones included, of the newest readable backup.
    func pins() -> (path: String, rows: [PinRows.Row])? {
        for backup in (try? all()) ?? [] {
            guard let connection = try? Connection(backup.path, readOnly: true),
                let rows = (try? PinRows.all(connection)) ?? nil
            else { continue }
            return (backup.path, rows)
        }
        return nil
    }

    /// Restores rows into a new catalog: each table from the newest backup that has it, from older ones only if that is
    /// damaged.
    ///
    /// - Returns: the newest backup that gave something; nil where none did.
    func restore(_ tables: [String] = Schema.keptTables, into connection: Connection) throws -> String? {
        let sources = try all().compactMap { backup in
            (try? Connection(backup.path, readOnly: true)).map { (path: backup.path, connection: $0) }
        }
        var used: Set<String> = []
        for table in tables {
            for source in sources {
                let reading = TableCopy.salvage(table, in: source.connection)
                if try TableCopy.insert(reading, into: table, of: connection) > 0 { used.insert(source.path) }
                if reading.isWhole { break }
            }
        }
        return sources.map(\.path).first(where: used.contains)
    }
}
