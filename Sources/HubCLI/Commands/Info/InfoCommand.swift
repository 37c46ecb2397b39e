import HubCore

/// `hub info`
enum InfoCommand {
    static let files = Switch(
        "files", "list the files",
        detail: "As a tree: each folder with the size of its files, and how much of it is cached.")
    static let inspect = Switch(
        "inspect", "show what the headers of the weights say",
        detail:
            "If they are not cached, some kilobytes of each file are requested, and no weights. The README is not read then."
    )
    static let contextLength = Option.whole(
        "context", in: 1...10_000_000,
        "size of the context in tokens: with --inspect, memory is computed for it")
    static let refresh = Switch("refresh", "ask the Hub for the branches and tags again")

    static let command = Command(
        name: "info", doc: "show what a model is, its files and their sizes",
        detail: """
            Shows the start of the README, metadata and revision. Says how much is cached and how much is left to download, \
            whether it fits on the disk and in memory, whether hub runs it, and about how fast. Below is a table of the sets \
            of weights (the files of one format and quantization): FITS says whether this machine has memory enough to run one. hub try and hub chat take the largest \
            quantized one that fits. \
            With a glob after a colon (REF:GLOB) only the files that match count. If the Hub does not answer, or does \
            not have the model any more, it shows what the catalog and the cache know, and how old that is.

            The memory is the weights plus the KV cache if config.json is cached, otherwise the weights plus 20%.
            """,
        operands: [Operand("REF", .one, .model)],
        flags: [files.flag, inspect.flag, contextLength.flag, refresh.flag, SharedFlags.open.flag],
        exclusive: [files, inspect, refresh].map { [SharedFlags.open.flag.name, $0.flag.name] } + [
            ["open", "context"]
        ],
        examples: [
            .init("hub info openai/gpt-oss-20b", "An overview of the model."),
            .init(
                "hub info openai/gpt-oss-20b@main --files", "Every file with its size, and whether it is cached."),
            .init("hub info org/model --inspect", "Its shape, parts and memory, before anything is fetched."),
            .init("hub info gpt2 --json --refresh", "For a program, with its branches and tags as they are now."),
        ],
        run: { try await run($0, try Request($1)) })
}
