import HubCore

/// `hub sync`
enum SyncCommand {
    static let all = Switch(
        "all", "everything: not only what changed; marks what was deleted from the Hub",
        detail: """
            Only this updates downloads and likes and finds deleted models. A plain sync goes by the date of the last \
            change, which they do not change.
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
        "limit", in: 1 ... .max, "at most this many", detail: "The next run continues where this one stopped.")

    static let command = Command(
        name: "sync", purpose: .changes,
        doc: "update the catalog of the Hub's models on this machine",
        detail: """
            Copies the Hub's list of models into the catalog on this machine, where hub search finds them without a \
            network. It begins with the models that changed last and stops at the first that has not changed since the last run; the first time \
            it copies all of them. No files are downloaded.

            A run that was interrupted loses at most the last second; run it again to continue. The Hub limits the \
            number of requests in five minutes; when few are left, hub waits. Ctrl-C ends the wait and keeps what was \
            received.
            """,
        flags: [all.flag, author.flag, limit.flag],
        examples: [
            .init("hub sync", "What changed since the last time; the first time, everything."),
            .init("hub sync --all", "Every model, with downloads and likes; marks deleted models."),
            .init("hub sync --author mlx-community", "The models of one organisation."),
            .init("hub sync --limit 10000 --json", "A part of it, with numbers for a program."),
        ],
        run: { try await run($0, Request($1)) })
}
