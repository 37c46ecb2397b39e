import CSQLite

/// One SQLite connection with its prepared statements. Not for two threads at once.
package class Connection {
    private let database: OpaquePointer
    private var statements: [String: Statement] = [:]
    private var knownTokenizer: IndexTokenizer?

    /// Seconds to wait for another connection or a replacement of the file. A change takes milliseconds; on a slow disk
    /// several processes that create a catalog wait in turn.
    static let patience = 15

    private static let preparation: Void = hub_sqlite_count_no_memory()

    /// Opens a database file.
    ///
    /// - Parameter readOnly: fails if the file does not exist.
    package init(_ path: String, readOnly: Bool = false) throws(SQLiteError) {
        _ = Self.preparation
        var handle: OpaquePointer?
        let flags = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // Its user sees to it that one thread at a time uses it. https://www.sqlite.org/threadsafe.html
        let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let error =
                handle.map { SQLiteError($0) } ?? SQLiteError(extendedCode: code, message: "out of memory")
            sqlite3_close_v2(handle)
            throw error
        }
        database = handle
        sqlite3_extended_result_codes(database, 1)
        sqlite3_busy_timeout(database, Int32(Self.patience * 1000))
    }

    deinit {
        statements.removeAll()
        knownTokenizer = nil
        sqlite3_close_v2(database)
    }

    /// Runs one or several statements without values; for schema and pragmas.
    package func execute(_ sql: String) throws(SQLiteError) {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw lastError(sql) }
    }

    /// Runs a statement that returns nothing.
    package func run(_ sql: String, _ values: (any SQLBindable)?...) throws {
        try statement(sql).each(values) { _ in false }
    }

    /// The same with the values in a list.
    package func run(_ sql: String, list values: [any SQLBindable]) throws {
        try statement(sql).each(values) { _ in false }
    }

    /// All rows of a query.
    package func query<Value>(_ sql: String, _ values: (any SQLBindable)?..., map: (Row) throws -> Value) throws
        -> [Value]
    {
        try rows(sql, values, map)
    }

    /// All rows of a query whose values are in a list.
    package func query<Value>(_ sql: String, list values: [any SQLBindable], map: (Row) throws -> Value) throws
        -> [Value]
    {
        try rows(sql, values, map)
    }

    private func rows<Value>(_ sql: String, _ values: [(any SQLBindable)?], _ map: (Row) throws -> Value) throws
        -> [Value]
    {
        var out: [Value] = []
        try statement(sql).each(values) { row in
            out.append(try map(row))
            return true
        }
        return out
    }

    /// The first row of a query.
    package func first<Value>(_ sql: String, _ values: (any SQLBindable)?..., map: (Row) throws -> Value) throws
        -> Value?
    {
        var out: Value?
        try statement(sql).each(values) { row in
            out = try map(row)
            return false
        }
        return out
    }

    /// Calls `body` with the rows of a query until it returns false.
    package func each(
        _ sql: String, list values: [any SQLBindable], _ body: (Row) throws -> Bool
    ) throws { try statement(sql).each(values, body) }

    /// Runs a statement once with the values of `bind`, and maps its first row with `row`.
    @discardableResult
    package func once<Value>(
        _ sql: String, bind: (inout Binder) throws -> Void, row: (Row) throws -> Value? = { _ in nil as Never? }
    ) throws -> Value? { try statement(sql).once(bind: bind, row: row) }

    /// The words of a text in their order, folded as FTS5's `unicode61 remove_diacritics 2` folds them.
    package func words(_ text: String) throws -> [String] { try tokenizer().words(text) }

    /// What takes texts apart as the search index does.
    func tokenizer() throws -> IndexTokenizer {
        if let knownTokenizer { return knownTokenizer }
        let made = try IndexTokenizer(database)
        knownTokenizer = made
        return made
    }

    /// The rowid of the last insert of this connection.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(database) }
    /// Rows changed since the connection was opened, those of the search index's own tables among them.
    package var totalChanges: Int { Int(sqlite3_total_changes(database)) }
    /// Rows changed by the last statement.
    package var changes: Int { Int(sqlite3_changes(database)) }

    /// Runs `body` in a write transaction. IMMEDIATE takes the write lock at once: a read transaction that turns into a
    /// write can fail with BUSY however long the time-out is. https://www.sqlite.org/lang_transaction.html
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try between("BEGIN IMMEDIATE", body)
    }

    /// Runs queries in a read transaction, so that all see the same state.
    package func snapshot<Value>(_ body: () throws -> Value) throws -> Value { try between("BEGIN", body) }

    private func between<Value>(_ begin: String, _ body: () throws -> Value) throws -> Value {
        try run(begin)
        do {
            let value = try body()
            try run("COMMIT")
            return value
        } catch {
            transactionFailed()
            // A failed COMMIT leaves the transaction open; some errors have rolled back already.
            if sqlite3_get_autocommit(database) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Called when a transaction failed, for who keeps some of the file in memory.
    func transactionFailed() {}

    /// Sets the journal mode, which needs the file for itself. That does not wait for others as statements do ("busy
    /// handler is not invoked" where it could deadlock), so it is tried again for as long as they would wait.
    /// https://www.sqlite.org/c3ref/busy_handler.html
    package func switchJournal(to mode: String) throws(SQLiteError) {
        for attempt in 0... {
            do throws(SQLiteError) { return try execute("PRAGMA journal_mode = \(mode)") } catch {
                guard error.code == SQLITE_BUSY, attempt < Self.patience * 100 else { throw error }
                sqlite3_sleep(10)
            }
        }
    }

    /// Whether the file was deleted or replaced since it was opened: writes would be lost.
    /// https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlhasmoved
    package var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// The columns of a table in their order; empty if there is no such table. `key` is the column's place in the
    /// primary key, from 1, or 0.
    package func columns(of table: String) throws -> [(name: String, key: Int64)] {
        try query("SELECT name, pk FROM pragma_table_info(?)", table, map: { ($0.text(0), $0.int(1)) })
    }

    /// A prepared statement, cached.
    func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let known = statements[sql] { return known }
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw lastError(sql) }
        let made = Statement(handle, sql: sql)
        statements[sql] = made
        return made
    }

    private func lastError(_ sql: String) -> SQLiteError { SQLiteError(database, sql: sql) }
}
