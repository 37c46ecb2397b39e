/// How shells quote.
enum ShellQuoting {
    /// One word in single quotes, for bash and zsh.
    static func posix(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

    /// One word in single quotes, for fish, where a backslash escapes there too.
    static func fish(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}

extension [Flag] {
    /// Every spelling: `--quiet -q`.
    var spellings: [String] { flatMap { ["--\($0.name)"] + ($0.short.map { ["-\($0)"] } ?? []) } }
}

/// The command that lists the cached models, for completions.
let completionModelsCommand = "hub ls -q --offline 2>/dev/null"
