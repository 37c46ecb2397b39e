import HubCore

/// `hub info`
enum InfoCommand {
    static let files = Switch(
        "files", "list the files",
        detail: "As a tree: folders with their total size, and what of it is cached.")
    static let inspect = Switch(
        "inspect", "show what the headers of the weights say",
        detail:
            "If they are not cached, only the headers are downloaded: some kilobytes of each file. The README is not read then."
    )
    static let contextLength = Option.whole(
        "context", in: 1...10_000_000, "with --inspect: the context length to compute memory for, in tokens")
    static let refresh = Switch("refresh", "also ask the Hub for branches and tags again")

    static let command = Command(
        name: "info", doc: "show a model: what it is, its files, what it needs",
        detail: """
            Shows the start of the README, metadata, the revision, the sets of weights with their sizes, how much is cached, \
            how much remains to download and whether that fits on the disk, and whether the largest set fits in memory. \
            With REF:GLOB only matching files count. If the Hub cannot be reached, hub shows what the catalog and the cache \
            know, and how old that is.

            The memory is that of the weights and the KV cache if config.json is cached; otherwise the weights plus 20 %.
            """,
        operands: [Operand("REF", .one, .model)],
        flags: [files.flag, inspect.flag, contextLength.flag, refresh.flag],
        examples: [
            .init("hub info openai/gpt-oss-20b", "An overview of the model."),
            .init(
                "hub info openai/gpt-oss-20b@main --files", "Every file with its size, and whether it is cached."),
            .init("hub info org/model --inspect", "Architecture, tensors and memory, before you download it."),
            .init("hub info gpt2 --json --refresh", "For a program, with current branches and tags."),
        ],
        run: run)
}
