import CSQLite

/// A prepared statement: reset before use and cleared after it, so that a forgotten value cannot leak into the next.
final class Statement {
    private let handle: OpaquePointer
    private let sql: String
    private var isRunning = false

    init(_ handle: OpaquePointer, sql: String) {
        self.handle = handle
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds the values and calls `body` with each row until it returns false.
    func each(_ values: [(any SQLBindable)?], _ body: (Row) throws -> Bool) throws {
        precondition(values.count == Int(sqlite3_bind_parameter_count(handle)), "wrong number of values: \(sql)")
        try running {
            for (offset, value) in values.enumerated() { try bind(value?.sqlValue ?? .null, at: Int32(offset + 1)) }
            while try step() { if try !body(Row(handle: handle)) { return } }
        }
    }

    /// Runs it once with the values of `bind`, without allocating a list: for statements that run a million times.
    ///
    /// - Returns: the first row mapped with `row`; nil if there is none.
    @discardableResult
    func once<Value>(bind: (inout Binder) throws -> Void, row: (Row) throws -> Value? = { _ in nil as Never? })
        throws
        -> Value?
    {
        try running {
            var binder = Binder(handle: handle)
            try bind(&binder)
            guard binder.code == SQLITE_OK else { throw error() }
            return try step() ? try row(Row(handle: handle)) : nil
        }
    }

    private func running<Value>(_ body: () throws -> Value) throws -> Value {
        precondition(!isRunning, "a statement was run again from within its own rows: \(sql)")
        isRunning = true
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
            isRunning = false
        }
        return try body()
    }

    private func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw error()
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) throws(SQLiteError) {
        let code: Int32
        switch value {
        case .null: code = sqlite3_bind_null(handle, index)
        case .integer(let number): code = sqlite3_bind_int64(handle, index, number)
        case .real(let number): code = sqlite3_bind_double(handle, index, number)
        case .text(let text):
            var copy = text
            code = copy.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text64(
                        handle, index, $0.baseAddress ?? emptyText, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            // A null pointer would bind NULL, not an empty blob.
            code =
                bytes.isEmpty
                ? sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), copied)
        }
        guard code == SQLITE_OK else { throw error() }
    }

    private func error() -> SQLiteError { SQLiteError(sqlite3_db_handle(handle), sql: sql) }
}

/// Binds values to a statement in order.
package struct Binder {
    fileprivate let handle: OpaquePointer
    fileprivate var code = SQLITE_OK
    private var index: Int32 = 0

    fileprivate init(handle: OpaquePointer) { self.handle = handle }

    private mutating func next(_ bind: (OpaquePointer, Int32) -> Int32) {
        index += 1
        let result = bind(handle, index)
        if code == SQLITE_OK { code = result }
    }

    package mutating func add(_ value: Int64?) {
        next { handle, index in
            value.map { sqlite3_bind_int64(handle, index, $0) } ?? sqlite3_bind_null(handle, index)
        }
    }

    package mutating func add(_ value: Double?) {
        next { handle, index in
            value.map { sqlite3_bind_double(handle, index, $0) } ?? sqlite3_bind_null(handle, index)
        }
    }

    package mutating func add(_ value: Bool?) { add(value.map { $0 ? 1 : 0 } as Int64?) }

    package mutating func add(_ value: String?) {
        guard var text = value else { return add(nil as Int64?) }
        text.withUTF8 { bytes in add(text: bytes) }
    }

    /// The bytes of a text in UTF-8.
    package mutating func add(text bytes: UnsafeBufferPointer<UInt8>) {
        next { handle, index in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text64(
                    handle, index, $0.baseAddress ?? emptyText, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
            }
        }
    }

    /// NULL for nil, and for no bytes.
    package mutating func add(_ bytes: [UInt8]?) {
        next { handle, index in
            guard let bytes, !bytes.isEmpty else { return sqlite3_bind_null(handle, index) }
            return sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), copied)
        }
    }
}

/// SQLITE_TRANSIENT, which Swift does not import because it is a cast: SQLite copies the bytes.
/// https://www.sqlite.org/c3ref/c_static.html
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// A pointer to no characters, for binding an empty string, whose own pointer may be null.
private nonisolated(unsafe) let emptyText: UnsafePointer<CChar> = {
    let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    byte.pointee = 0
    return UnsafePointer(byte)
}()

/// The current row of a statement; valid only inside the closure it was handed to.
package struct Row {
    fileprivate let handle: OpaquePointer

    fileprivate init(handle: OpaquePointer) { self.handle = handle }

    private func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    /// A column that is never NULL.
    package func int(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    package func bool(_ column: Int) -> Bool { int(column) != 0 }
    package func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
    package func text(_ column: Int) -> String {
        guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
    package func blob(_ column: Int) -> [UInt8] {
        let bytes = sqlite3_column_blob(handle, Int32(column))
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }
    /// The bytes of a column that is never NULL, without a copy; valid as long as the row.
    package func withBlob<Value>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value
    {
        let bytes = sqlite3_column_blob(handle, Int32(column))
        return try body(
            UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }

    /// A column of any type.
    package func value(_ column: Int) -> SQLValue {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer(int(column))
        case SQLITE_FLOAT: .real(double(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    /// A column that may be NULL.
    package func optionalBlob(_ column: Int) -> [UInt8]? { isNull(column) ? nil : blob(column) }
    package func optionalInt(_ column: Int) -> Int64? { isNull(column) ? nil : int(column) }
    package func optionalBool(_ column: Int) -> Bool? { isNull(column) ? nil : bool(column) }
    package func optionalDouble(_ column: Int) -> Double? { isNull(column) ? nil : double(column) }
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
}
