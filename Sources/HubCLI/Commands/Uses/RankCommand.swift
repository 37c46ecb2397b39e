import HubCore

/// `hub rank`
enum RankCommand {
    static let command = Command(
        name: "rank", doc: "rank texts or pictures by how well they fit a query",
        detail: """
            A reranker reads each text with the query; an embedding model compares their vectors by cosine. Pictures, by \
            --attach, are ranked by a model with vectors of pictures and texts, such as CLIP and SigLIP. The best one comes \
            first. --json has the place of each among those given, from 0.

            With --index, pictures that did not change are not computed again; without --attach, all pictures of the index \
            are ranked.
            """,
        operands: [
            Operand("MODEL", .one, .modelOrFolder), Operand("QUERY", .one, .text), Operand("TEXT", .any, .text),
        ],
        flags: [
            InputFlags.texts.flag, InputFlags.attach.flag, InputFlags.index.flag, TryCommand.task.flag,
            InputFlags.promptName.flag,
            InputFlags.dimensions.flag,
            InputFlags.gguf.flag,
        ] + GenerationFlags.computing + [SharedFlags.yes.flag],
        exclusive: [["exact", "fast"], ["attach", "texts"], ["index", "texts"]],
        examples: [
            .init("hub rank ./reranker 'Who wrote Hamlet?' --texts answers.txt", "The best answer first."),
            .init("hub rank org/embedder sea ship loan", "Words, by an embedding model."),
            .init(
                "hub rank org/clip 'a red car' --attach one.jpg --attach two.jpg", "Pictures, the nearest first."),
            .init(
                "hub rank org/clip 'a red car' --attach one.jpg --index photos.index",
                "The same, with vectors that are kept."),
        ],
        run: { try await TryCommand.run($0, try request($1)) })

    private static func request(_ arguments: ParsedArguments) throws(AIError) -> TryCommand.Request {
        var request = TryCommand.Request(reading: arguments, command: command)
        request.query = arguments.operands[1]
        request.rankedTexts = Array(arguments.operands.dropFirst(2))
        guard request.texts != nil || !request.rankedTexts.isEmpty || request.ranksPictures else {
            throw AIError(
                .invalidInput, "there is nothing to rank",
                advice:
                    "write hub rank MODEL QUERY TEXT..., --texts FILE, or for pictures --attach FILE or --index FILE"
            )
        }
        guard !request.ranksPictures || request.rankedTexts.isEmpty else {
            throw AIError(
                .invalidInput, "texts and pictures are not ranked together", advice: "rank one after the other")
        }
        try request.validate()
        return request
    }
}
