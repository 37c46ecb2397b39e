import HubCore

/// `hub doctor`
enum DoctorCommand {
    static let fix = Switch("fix", "fix what is safe to fix, and list the rest")
    static let rebuild = Switch(
        "rebuild", "rebuild the catalog, keeping pins and last-use times",
        detail: """
            The old file is kept beside it. hub asks the Hub about the cached models again; without a network the new \
            catalog holds only what the cache shows.
            """)

    static let command = Command(
        name: "doctor", isMinor: true, purpose: .changes,
        doc: "find and fix problems with the setup",
        detail: """
            Checks the libraries, the paths in use and where each comes from, the catalog, the cache, the token and the \
            connection to the Hub. Exit code 1 means that a problem remains; notes do not count as problems.
            """,
        flags: [fix.flag, rebuild.flag], exclusive: [["fix", "rebuild"]],
        listKey: "findings",
        examples: [
            .init("hub doctor", "Check everything, change nothing."),
            .init("hub doctor --fix", "Fix what is safe to fix."),
            .init("hub doctor --rebuild", "Rebuild a damaged catalog."),
            .init("hub doctor --offline --json", "For a script, without the network."),
        ],
        run: run)
}
