import CSQLite
package import HubCore

/// A result code of SQLite with its extended form. https://www.sqlite.org/rescode.html
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The extended result code.
    package var extendedCode: Int32
    /// SQLite's own words.
    package var message: String
    /// The statement, without its values.
    package var sql: String?

    /// The primary result code: the low eight bits.
    package var code: Int32 { extendedCode & 0xFF }
    package var description: String { "SQLite \(extendedCode): \(message)" }

    /// As the error that leaves this module.
    package func asAIError(path: String) -> AIError {
        let context = AIError.Context(path: path)
        switch code {
        case SQLITE_FULL:
            return AIError(.diskFull, "no space left for the catalog \(path)", context: context, cause: self)
        case SQLITE_BUSY, SQLITE_LOCKED:
            return AIError(
                .catalogUnusable, "the catalog \(path) is in use by another process",
                advice: "wait for the other hub, then try again", context: context, cause: self)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
            return AIError(
                .permissionDenied, "the catalog \(path) cannot be written: \(message)",
                advice: "check who owns its folder, or set HUB_HOME to another", context: context, cause: self)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return AIError(
                .catalogUnusable, "the catalog \(path) is damaged: \(message)", context: context, cause: self)
        default:
            return AIError(
                .catalogUnusable, "the catalog \(path) failed: \(message)", context: context, cause: self)
        }
    }
}
