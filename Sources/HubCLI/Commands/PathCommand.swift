import HubCore

/// `hub path`
enum PathCommand {
    static let command = Command(
        name: "path", doc: "print where a cached model or file is",
        detail: """
            Prints the snapshot folder of a cached model, or one file in it, and notes that it was used. Nothing is \
            fetched: what is not there is exit status 3.
            """,
        operands: [Operand("REF[:FILE]", .one, .model)],
        examples: [
            .init("hub path openai/gpt-oss-20b", "The folder of the model."),
            .init("cat \"$(hub path gpt2:config.json)\"", "One file of it."),
            .init("hub path gpt2 || hub pull gpt2", "Fetch what is not there."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        throw AIError(.invalidInput, "not built yet")
    }
}
