import HubCore

/// `hub outdated`
enum OutdatedCommand {
    static let command = Command(
        name: "outdated", doc: "list cached branches that have moved on the Hub",
        detail: """
            Asks the Hub once for each cached branch which commit it stands for now, and lists those that have moved, with \
            what an update would fetch. hub pull of a listed model updates it: if pulls chose only some files or one set of \
            weights, only those are updated. A model that another program fetched only in \
            part is compared as the whole repository, as hub pull would fetch it. Models that are gone from the Hub, gated or renamed are named too. Commits that \
            were fetched by their hash do not move.

            The exit code is 0 whether a branch has moved or not, and 5 if the Hub could not be asked.
            """,
        operands: [Operand("REF|GLOB", .any, .cachedModel)],
        listKey: "models",
        examples: [
            .init("hub outdated", "Every branch in the cache."),
            .init("hub outdated 'mlx-community/*' org/model@dev", "One organisation's models, and one branch."),
            .init("hub outdated -q | xargs -r hub pull", "Update everything."),
        ],
        run: { try await run($0, Request($1)) })
}
