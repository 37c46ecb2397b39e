import HubCore

/// `hub ls`
enum ListCommand {
    enum Sort: String, Sendable, CaseIterable { case used, size, name, downloaded }

    static let sort = Option<Sort>.choice(
        "sort", "what to list first",
        detail: "The most recently used (the default), the largest, by name, or the most recently downloaded.")
    static let revisions = Switch("revisions", "show each cached revision on its own line")
    static let partials = Switch("partials", "show unfinished downloads too")

    static let command = Command(
        name: "ls", doc: "list cached models with size and last use",
        detail: """
            Lists the models, datasets and Spaces in the cache, whichever tool downloaded them: their sizes, what deleting \
            them would free, and when they were last used. REF or GLOB limits the list.
            """,
        operands: [Operand("REF|GLOB", .any, .cachedModel)],
        flags: [sort.flag, revisions.flag, partials.flag],
        listKey: "models",
        examples: [
            .init("hub ls", "Everything, the most recently used first."),
            .init("hub ls 'mlx-community/*' --sort size", "One organisation's models, the largest first."),
            .init("hub ls --revisions gpt2", "Each revision of one model."),
            .init("hub ls -q", "Only the ids, for scripts."),
        ],
        run: run)
}
