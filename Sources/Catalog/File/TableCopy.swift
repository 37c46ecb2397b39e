import CSQLite
import HubCore

/// Copies the rows of a table from one file to another, by the columns that both have: sound files, and damaged ones as
/// far as they can be read.
enum TableCopy {
    /// What could be read of a table.
    struct Reading {
        var columns: [String] = []
        var rows: [[SQLValue]] = []
        /// Whether that is all of them.
        var isWhole = false
    }

    /// All rows of a table, for a sound file.
    static func rows(of table: String, in connection: Connection) throws -> Reading {
        let columns = try connection.columns(of: table).map(\.name)
        guard !columns.isEmpty else { return Reading() }
        return Reading(
            columns: columns, rows: try rows(table, columns, order: "", connection) { throw $0 }, isWhole: true)
    }

    /// The readable rows of a damaged file: from the start to the damage, and from the end back to it.
    static func salvage(_ table: String, in connection: Connection) -> Reading {
        guard let known = try? connection.columns(of: table), !known.isEmpty else { return Reading() }
        var reading = Reading(columns: known.map(\.name))
        var fault: (any Error)?
        func note(_ error: any Error) { fault = error }
        reading.rows = (try? rows(table, reading.columns, order: "", connection, onFault: note)) ?? []
        guard fault == nil, isSound(table, connection) else {
            let key = known.filter { $0.key > 0 }.sorted { $0.key < $1.key }.map { "\(quoted($0.name)) DESC" }
            let order = key.isEmpty ? "" : " ORDER BY " + key.joined(separator: ", ")
            reading.rows += (try? rows(table, reading.columns, order: order, connection, onFault: note)) ?? []
            return reading
        }
        reading.isWhole = true
        return reading
    }

    /// Inserts missing rows and returns their number. Invalid rows are left out.
    static func insert(_ reading: Reading, into table: String, of connection: Connection) throws -> Int {
        let target = try connection.columns(of: table).map(\.name)
        let shared = reading.columns.indices.filter { target.contains(reading.columns[$0]) }
        guard !shared.isEmpty else { return 0 }
        let names = shared.map { quoted(reading.columns[$0]) }.joined(separator: ", ")
        let marks = shared.map { _ in "?" }.joined(separator: ", ")
        var count = 0
        for row in reading.rows {
            do {
                try connection.run(
                    "INSERT OR IGNORE INTO \(quoted(table)) (\(names)) VALUES (\(marks))",
                    list: shared.map { row[$0] })
                count += connection.changes
            } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
                // "OR IGNORE" does not cover a value of the wrong type. https://www.sqlite.org/stricttables.html
                continue
            }
        }
        return count
    }

    /// The number of rows of a table, without removed pins.
    static func count(_ table: String, _ connection: Connection) throws -> Int {
        let condition = table == "pins" ? " WHERE removed_at IS NULL" : ""
        return try connection.first("SELECT count(*) FROM \(quoted(table))\(condition)", map: { Int($0.int(0)) })
            ?? 0
    }

    private static func rows(
        _ table: String, _ columns: [String], order: String, _ connection: Connection,
        onFault: (any Error) throws -> Void
    ) throws -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        let names = columns.map(quoted).joined(separator: ", ")
        do {
            _ = try connection.query("SELECT \(names) FROM \(quoted(table))\(order)") { row in
                rows.append(columns.indices.map(row.value))
            }
        } catch { try onFault(error) }
        return rows
    }

    /// Whether the table and its indexes agree: a page of zeros can read as an empty table.
    private static func isSound(_ table: String, _ connection: Connection) -> Bool {
        let said = try? connection.query("PRAGMA quick_check(\(quoted(table)))", map: { $0.text(0) })
        return said == ["ok"]
    }

    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}
