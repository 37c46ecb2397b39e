import HubCore

/// `hub sync`
enum SyncCommand {
    static let all = Switch(
        "all", "look at every model, and mark those deleted from the Hub",
        detail: """
            Downloads and likes change without a date, and deleted models do not appear among the latest changes: only this \
            finds both.
            """)
    static let author = Option<String>(
        "author", "NAME", .text, "only models of this user or organization"
    ) { text throws(AIError) in
        guard !text.contains("/"), (try? RepositoryID(text)) != nil else {
            throw AIError(.invalidInput, "\"\(text.printable)\" is not the name of a user or organization")
        }
        return text
    }
    static let limit = Option.whole(
        "limit", in: 1 ... .max, "stop after this many models", detail: "The next run continues there.")

    static let command = Command(
        name: "sync", isMinor: true, purpose: .changes,
        doc: "update the local catalog of the Hub's models",
        detail: """
            Copies the Hub's list of models into the catalog on this machine, where hub search finds them without the network. \
            It starts with the latest changes and stops at what is known; the first time it copies everything. No model \
            files are downloaded.

            Run the same command to resume a run that was interrupted; at most the last second of work is lost. The Hub \
            limits requests per five minutes; when few are left, hub waits. Ctrl-C ends the wait and keeps what was copied.
            """,
        flags: [all.flag, author.flag, limit.flag],
        examples: [
            .init("hub sync", "What changed since the last time; the first time, everything."),
            .init("hub sync --all", "Every model, with downloads and likes; marks what was deleted."),
            .init("hub sync --author mlx-community", "The models of one organization."),
            .init("hub sync --limit 10000 --json", "A part of the list, with figures for a program."),
        ],
        run: run)
}
