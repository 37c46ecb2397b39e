import HubCore

/// `hub sync`
enum SyncCommand {
    static let all = Switch(
        "all", "look at every model, and mark those that are gone from the Hub",
        detail: """
            Downloads and likes move without a date, and what is deleted leaves no trace among what changed last: only \
            this finds both.
            """)
    static let author = Option<String>(
        "author", "NAME", .text, "only models of this user or organisation"
    ) { text throws(AIError) in
        guard !text.contains("/"), (try? RepositoryID(text)) != nil else {
            throw AIError(.invalidInput, "\"\(text.printable)\" is not the name of a user or organisation")
        }
        return text
    }
    static let limit = Option.whole(
        "limit", in: 1 ... .max, "how many models at most in this run", detail: "The next run goes on there.")

    static let command = Command(
        name: "sync", isMinor: true, purpose: .changes,
        doc: "update the catalog of the Hub's models on this machine",
        detail: """
            Copies the Hub's list of models into the catalog on this machine, where hub search finds them without a \
            network. The models that changed last come first, until everything older is known; the first time that is \
            all of them. No files are fetched.

            A run that was cut off, however it was, loses at most the pages of the last second: the same command goes \
            on there. \
            The Hub limits how many requests it answers in five minutes; when few are left, hub waits. Ctrl-C ends the \
            wait, and keeps what came.
            """,
        flags: [all.flag, author.flag, limit.flag],
        examples: [
            .init("hub sync", "What changed since the last time; everything, the first time."),
            .init("hub sync --all", "Every model, downloads and likes too; marks what is gone."),
            .init("hub sync --author mlx-community", "The models of one organisation."),
            .init("hub sync --limit 10000 --json", "A part of it, with the figures for a program."),
        ],
        run: run)
}
