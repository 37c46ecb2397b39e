import HubCore

/// `hub doctor`
enum DoctorCommand {
    static let fix = Switch("fix", "mend what can be mended safely, and list the rest")
    static let rebuild = Switch(
        "rebuild", "make the catalog again, keeping pins and times of use",
        detail: """
            The old file is kept aside. What the Hub says of the cached models is asked for again; without a network \
            the new catalog knows only what the cache tells.
            """)

    static let command = Command(
        name: "doctor", isMinor: true, purpose: .changes,
        doc: "find what is wrong with this machine's setup, and fix it",
        detail: """
            Looks at the libraries in use, the paths in force and where each comes from, the catalog, the cache, the \
            token and the way to the Hub. Status 1 means that something is wrong that was not mended; what is merely \
            worth knowing changes nothing.
            """,
        flags: [fix.flag, rebuild.flag], exclusive: [["fix", "rebuild"]],
        listKey: "findings",
        examples: [
            .init("hub doctor", "Everything is looked at, nothing is changed."),
            .init("hub doctor --fix", "Mend what is safe to mend."),
            .init("hub doctor --rebuild", "For a damaged catalog."),
            .init("hub doctor --offline --json", "For a script, without the network."),
        ],
        run: run)
}
