import HubCore

/// `hub outdated`
enum OutdatedCommand {
    static let command = Command(
        name: "outdated", doc: "list cached branches that have changed on the Hub",
        detail: """
            Asks the Hub for the current commit of each cached branch and lists the branches that have changed, with the size \
            of the update; hub pull of the listed names updates them. Models that were deleted from the Hub, gated or renamed \
            are reported too. A commit that was pulled by its hash never changes.

            The exit code is 0 whether anything has changed or not; it tells only whether the Hub could be asked.
            """,
        operands: [Operand("REF|GLOB", .any, .cachedModel)],
        listKey: "models",
        examples: [
            .init("hub outdated", "Every branch in the cache."),
            .init("hub outdated 'mlx-community/*' org/model@dev", "One organisation's models, and one branch."),
            .init("hub outdated -q | xargs -r hub pull", "Update everything."),
        ],
        run: run)
}
