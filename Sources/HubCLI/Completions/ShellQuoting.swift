/// How shells quote.
enum ShellQuoting {
    /// One word in single quotes, for bash and zsh.
    static func posix(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
