import HubCore

/// `hub outdated`
enum OutdatedCommand {
    static let command = Command(
        name: "outdated", doc: "list cached branches that have moved on the Hub",
        detail: """
            Asks the Hub once for each cached branch where it stands now, and lists those that have moved, with what \
            bringing them up to date would fetch: hub pull of what is listed does that. Models that are gone from the Hub, \
            gated or renamed are listed or named too. A branch of which only some files are cached counts as a whole, as hub \
            pull takes it. Commits that were fetched by their hash do not move.

            The status is 0 whether anything has moved or not; it tells only whether the Hub could be asked.
            """,
        operands: [Operand("REF|GLOB", .any, .cachedModel)],
        listKey: "models",
        examples: [
            .init("hub outdated", "Every branch in the cache."),
            .init("hub outdated 'mlx-community/*' org/model@dev", "One organisation's models, and one branch."),
            .init("hub outdated -q | xargs -r hub pull", "Bring everything up to date."),
        ],
        run: run)
}
