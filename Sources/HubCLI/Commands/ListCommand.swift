import HubCore

/// `hub ls`
enum ListCommand {
    enum Sort: String, Sendable, CaseIterable { case used, size, name, downloaded }

    static let sort = Option<Sort>.choice(
        "sort", "what comes first",
        detail: "The last used (the default), the largest, by name, or the last downloaded.")
    static let revisions = Switch("revisions", "a line for each cached revision")
    static let partials = Switch("partials", "show unfinished downloads too")

    static let command = Command(
        name: "ls", doc: "list what is cached, with sizes and last use",
        detail: """
            Lists the models, datasets and Spaces of the cache, whichever tool put them there, with their sizes, what \
            deleting them would free, and when they were last used. With words only what they name: ids or globs.
            """,
        operands: [Operand("REF|GLOB", .any, .cachedModel)],
        flags: [sort.flag, revisions.flag, partials.flag],
        listKey: "models",
        examples: [
            .init("hub ls", "Everything, the last used first."),
            .init("hub ls 'mlx-community/*' --sort size", "One organisation's models, the largest first."),
            .init("hub ls --revisions gpt2", "Each revision of one model."),
            .init("hub ls -q", "The ids alone, for scripts."),
        ],
        run: run)
}
