import HubCore

/// `hub doctor`
enum DoctorCommand {
    static let fix = Switch("fix", "fix what can be fixed safely, and list the rest")
    static let rebuild = Switch(
        "rebuild", "rebuild the catalog, keeping pins and times of use",
        detail: """
            The old file is kept under another name. hub asks the Hub about the cached models again; without a network \
            the new catalog knows only what is in the cache.
            """)

    static let command = Command(
        name: "doctor", isMinor: true, purpose: .changes,
        doc: "find what is wrong with this machine's setup, and fix it",
        detail: """
            Checks the libraries, the paths in use and what sets them, the switches, the free disk, the catalog, the \
            cache, the token and the connection to the Hub. Status 1 means that something is wrong and was not fixed; \
            notes do not count.
            """,
        flags: [fix.flag, rebuild.flag], exclusive: [["fix", "rebuild"]],
        listKey: "findings",
        examples: [
            .init("hub doctor", "Check everything, change nothing."),
            .init("hub doctor --fix", "Fix what is safe to fix."),
            .init("hub doctor --rebuild", "For a damaged catalog."),
            .init("hub doctor --offline --json", "For a script, without the network."),
        ],
        run: { try await run($0, Request($1)) })
}
