import HubCore

/// Outputs that are files.
enum OutputFlags {
    /// The one file of a command.
    ///
    /// - Parameters:
    ///   - what: what is written; empty where that is plain.
    ///   - detail: what the page of the command says besides.
    static func output(_ what: String = "", detail: String? = nil) -> Option<String> {
        Option<String>(
            "output", short: "o", "FILE", .file, "where it is written" + (what.isEmpty ? "" : ": \(what)"),
            detail: detail,
            read: { text throws(AIError) in
                if text.isEmpty { throw AIError(.invalidInput, "the value is empty") }
                return text
            })
    }
}
