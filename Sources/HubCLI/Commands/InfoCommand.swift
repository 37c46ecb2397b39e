import HubCore

/// `hub info`
enum InfoCommand {
    static let files = Switch("files", "list the files")
    static let refresh = Switch("refresh", "ask the Hub for the branches and tags again, too")

    static let command = Command(
        name: "info", doc: "show what a model is, its files and what it would cost to fetch",
        detail: """
            Shows metadata, revision and total size, how much of it the cache holds, what is still to be fetched, and \
            whether that fits on the disk. The Hub is asked where it can be; what the catalog knows stands in for an \
            answer that does not come.
            """,
        operands: [Operand("REF", .one, .model)],
        flags: [files.flag, refresh.flag],
        examples: [
            .init("hub info openai/gpt-oss-20b", "The model at a glance."),
            .init(
                "hub info openai/gpt-oss-20b@main --files", "Every file with its size, and whether it is cached."),
            .init("hub info gpt2 --json --refresh", "For a program, its branches and tags as they are now."),
        ],
        run: run)
}
