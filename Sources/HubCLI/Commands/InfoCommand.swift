import HubCore

/// `hub info`
enum InfoCommand {
    static let files = Switch(
        "files", "list the files",
        detail: "As a tree: each folder with the bytes of all that is in it, and what of it the cache has.")
    static let inspect = Switch(
        "inspect", "show what the headers of its weights say",
        detail:
            "Read by ranges where they are not cached: some kilobytes of each file, and no weights. The README is not read then."
    )
    static let contextLength = Option.whole(
        "context", in: 1...10_000_000, "how many positions the memory is told for, with --inspect")
    static let refresh = Switch("refresh", "ask the Hub for the branches and tags again, too")

    static let command = Command(
        name: "info", doc: "show what a model is, its files and what it would cost to fetch",
        detail: """
            Shows what the README says first, metadata, revision, the sets of weights on offer with their sizes, how much \
            the cache holds, what is still to be fetched, whether that fits on the disk, and whether the largest set fits \
            in memory. With a glob after a colon (REF:GLOB) only the files that match count. The Hub is asked where it can \
            be; what the catalog and the cache know stands in for an answer that does not come, and says how old it is.

            The memory is that of the weights, keys and values where config.json is cached, else the weights and a fifth.
            """,
        operands: [Operand("REF", .one, .model)],
        flags: [files.flag, inspect.flag, contextLength.flag, refresh.flag],
        examples: [
            .init("hub info openai/gpt-oss-20b", "The model at a glance."),
            .init(
                "hub info openai/gpt-oss-20b@main --files", "Every file with its size, and whether it is cached."),
            .init("hub info org/model --inspect", "Its shape, parts and memory, before anything is fetched."),
            .init("hub info gpt2 --json --refresh", "For a program, its branches and tags as they are now."),
        ],
        run: run)
}
