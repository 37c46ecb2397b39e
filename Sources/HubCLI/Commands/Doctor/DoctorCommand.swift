import HubCore

/// `hub doctor`
enum DoctorCommand {
    enum Action: Sendable { case check, fix, rebuild }

    static let command = Command.family(
        "doctor", doc: "find what is wrong with this machine's setup, and fix it",
        detail: """
            Checks the libraries, the paths in use and what sets them, the variables that are yes or no, the free \
            disk, the catalog, the cache, the token and the connection to the Hub. The exit code is 1 if something is wrong \
            and was not fixed; for notes it stays 0.

            rebuild keeps the old catalog under another name. hub asks the Hub about the cached models again; without a \
            network the new catalog knows only what is in the cache.
            """,
        [
            Command(
                name: "check", doc: "check everything, change nothing", listKey: "findings",
                run: { context, _ in try await run(context, .check) }
            ).asUsual,
            Command(
                name: "fix", purpose: .changes, doc: "fix what can be fixed safely, and list the rest",
                detail: """
                    Does what hub doctor does, and fixes what can be fixed without loss. The exit code is 1 if something is \
                    still wrong.
                    """,
                listKey: "findings", examples: [.init("hub doctor fix", "Fix what is safe to fix.")],
                run: { context, _ in try await run(context, .fix) }),
            Command(
                name: "rebuild", purpose: .changes, doc: "rebuild the catalog, keeping pins and times of use",
                detail: """
                    Makes a new catalog, and keeps the old one under another name. hub asks the Hub about the cached models \
                    again; without a network the new catalog knows only what is in the cache.
                    """,
                listKey: "findings", examples: [.init("hub doctor rebuild", "For a damaged catalog.")],
                run: { context, _ in try await run(context, .rebuild) }),
        ],
        examples: [
            .init("hub doctor", "Check everything, change nothing."),
            .init("hub doctor fix", "Fix what is safe to fix."),
            .init("hub doctor rebuild", "For a damaged catalog."),
            .init("hub doctor --offline --json", "For a script, without the network."),
        ])
}
