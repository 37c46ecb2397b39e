import CSQLite
package import HubCore
import Libc

/// A result code of SQLite with its extended form. https://www.sqlite.org/rescode.html
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The extended result code.
    package var extendedCode: Int32
    /// SQLite's message.
    package var message: String
    /// The statement, without its values.
    package var sql: String?
    /// The errno of the failed system call; 0 for none.
    package var systemErrno: Int32 = 0

    /// The primary result code: the low eight bits.
    package var code: Int32 { extendedCode & 0xFF }
    package var description: String { "SQLite \(extendedCode): \(message)" }

    /// Whether the file itself is damaged and must be rebuilt: retrying does not help.
    package var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR].contains(code) }

    /// Whether another connection holds a lock.
    package var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL].contains(code) }

    /// As the error that leaves this module.
    package func asAIError(path: String) -> AIError {
        let context = AIError.Context(path: path)
        func fault(_ code: ErrorCode, _ message: String, _ advice: String? = nil) -> AIError {
            AIError(code, message, advice: advice, context: context, cause: self)
        }
        let elsewhere = "check who owns its folder, or set HUB_HOME to another"
        switch (code, systemErrno) {
        case (SQLITE_FULL, _), (_, ENOSPC), (_, EDQUOT):
            return fault(.diskFull, "no space left for the catalog \(path)")
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _):
            return fault(
                .catalogUnusable, "the catalog \(path) is in use by another process",
                "wait for the other hub, then try again")
        case (SQLITE_READONLY, _), (SQLITE_PERM, _), (SQLITE_CANTOPEN, _), (SQLITE_AUTH, _), (SQLITE_IOERR, EACCES),
            (SQLITE_IOERR, EPERM), (SQLITE_IOERR, EROFS):
            return fault(.permissionDenied, "the catalog \(path) cannot be written: \(message)", elsewhere)
        case (SQLITE_IOERR, _):
            let why = systemErrno == 0 ? message : SystemErrno.text(systemErrno)
            return fault(
                .catalogUnusable, "the catalog \(path) cannot be read or written: \(why)",
                "the disk may be failing; set HUB_HOME to use another folder for the catalog")
        case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
            return fault(.catalogUnusable, "the catalog \(path) is damaged: \(message)")
        default:
            return fault(.catalogUnusable, "the catalog \(path) failed: \(message)")
        }
    }
}

extension SQLiteError {
    /// The error of a connection's last call. The connection is an `OpaquePointer` to its `sqlite3`.
    init(_ database: OpaquePointer?, sql: String? = nil) {
        self.init(
            extendedCode: sqlite3_extended_errcode(database), message: String(cString: sqlite3_errmsg(database)),
            sql: sql)
        // SQLite leaves it as it was after errors of other kinds.
        if [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code) { systemErrno = sqlite3_system_errno(database) }
    }
}

extension AIError {
    /// Whether the error is the catalog's own.
    package var isOfCatalog: Bool { code == .catalogUnusable || cause is SQLiteError }

    /// Whether the catalog's file must be rebuilt.
    package var isCatalogDamage: Bool { (cause as? SQLiteError)?.isDamage ?? false }
}
