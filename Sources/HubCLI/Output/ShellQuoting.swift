/// How shells quote.
enum ShellQuoting {
    /// One word in single quotes, for bash and zsh.
    static func posix(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

    /// One word of a command that is printed as advice: as it is where no shell changes it.
    static func word(_ text: String) -> String {
        text.wholeMatch(of: /[A-Za-z0-9\/._+:@%,=-]+/) != nil
            ? text : posix(text)
    }
}
