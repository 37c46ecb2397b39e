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
    ///
    /// - Parameter file: whose file it is.
    package func asAIError(path: String, _ file: FileName = .catalog) -> AIError {
        let context = AIError.Context(path: path)
        func fault(_ code: ErrorCode, _ message: String, _ advice: String? = nil) -> AIError {
            AIError(code, message, advice: advice, context: context, cause: self)
        }
        let name = "\(file.name) \(path)"
        let elsewhere = "check who owns its folder, or set HUB_HOME to another"
        switch (code, systemErrno) {
        case (SQLITE_FULL, _), (_, ENOSPC), (_, EDQUOT):
            return fault(.diskFull, "no space left for \(name)")
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _):
            return fault(
                file.code, "\(name) is in use by another process", "wait for the other hub, then try again")
        case (SQLITE_READONLY, _), (SQLITE_PERM, _), (SQLITE_CANTOPEN, _), (SQLITE_AUTH, _), (SQLITE_IOERR, EACCES),
            (SQLITE_IOERR, EPERM), (SQLITE_IOERR, EROFS):
            return fault(.permissionDenied, "\(name) cannot be written: \(message)", elsewhere)
        case (SQLITE_IOERR, _):
            let why = systemErrno == 0 ? message : SystemErrno.text(systemErrno)
            return fault(
                file.code, "\(name) cannot be read or written: \(why)",
                "the disk may be failing; set HUB_HOME to use another folder for it")
        case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
            return fault(file.code, "\(name) is damaged: \(message)", file.advice)
        default:
            return fault(file.code, "\(name) failed: \(message)", file.advice)
        }
    }

    /// A file of SQLite in errors.
    package struct FileName: Sendable {
        /// `the catalog`
        package var name: String
        /// What a file is that cannot be used.
        package var code: ErrorCode
        /// What to do about a damaged file; nil for the code's own advice.
        package var advice: String?

        package init(_ name: String, code: ErrorCode, advice: String? = nil) {
            (self.name, self.code, self.advice) = (name, code, advice)
        }

        package static let catalog = FileName("the catalog", code: .catalogUnusable)
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
