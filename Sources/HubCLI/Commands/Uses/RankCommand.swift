import HubCore

/// `hub rank`
enum RankCommand {
    static let command = Command(
        name: "rank", doc: "rank texts by how well they answer a query",
        detail: """
            A reranker reads each text with the query; an embedding model compares their vectors by cosine. The best text \
            comes first. --json has the place of each text among those given, from 0.
            """,
        operands: [
            Operand("MODEL", .one, .modelOrFolder), Operand("QUERY", .one, .text), Operand("TEXT", .any, .text),
        ],
        flags: [
            InputFlags.texts.flag, TryCommand.task.flag, InputFlags.promptName.flag, InputFlags.dimensions.flag,
            InputFlags.gguf.flag,
        ] + GenerationFlags.computing + [SharedFlags.yes.flag],
        exclusive: [["exact", "fast"]],
        examples: [
            .init("hub rank ./reranker 'Who wrote Hamlet?' --texts answers.txt", "The best answer first."),
            .init("hub rank org/embedder sea ship loan", "Words, by an embedding model."),
        ],
        run: { try await TryCommand.run($0, try request($1)) })

    private static func request(_ arguments: ParsedArguments) throws(AIError) -> TryCommand.Request {
        var request = TryCommand.Request(reading: arguments, command: command)
        request.query = arguments.operands[1]
        request.rankedTexts = Array(arguments.operands.dropFirst(2))
        guard request.texts != nil || !request.rankedTexts.isEmpty else {
            throw AIError(
                .invalidInput, "there is no text to rank",
                advice: "write hub rank MODEL QUERY TEXT..., or --texts FILE")
        }
        try request.validate()
        return request
    }
}
