import HubCore

/// `hub eval`
enum EvalCommand {
    static let tokens = Option.whole("tokens", in: 1 ... .max, "stop after this many tokens of the text")

    static let command = Command(
        name: "eval", doc: "measure how well a model predicts a text: its perplexity",
        detail: """
            Prints the perplexity of the text: the lower, the better. To compare quantizations of one model, use the same \
            text. The text is read in pieces of 256 tokens, each after the beginning token; all tokens are scored.
            """,
        operands: [Operand("MODEL", .one, .modelOrFolder), Operand("FILE", .one, .file)],
        flags: [tokens.flag, InputFlags.gguf.flag] + GenerationFlags.computing + [SharedFlags.yes.flag],
        exclusive: [["exact", "fast"]],
        examples: [
            .init(
                "hub eval org/model-GGUF:Q4_K_M book.txt --tokens 4096", "One quantization, on a part of a book."),
            .init("hub eval org/model book.txt --exact --json", "In float32, for a program."),
        ],
        run: { try await TryCommand.run($0, try request($1)) })

    private static func request(_ arguments: ParsedArguments) throws(AIError) -> TryCommand.Request {
        var request = TryCommand.Request(reading: arguments, command: command)
        request.perplexity = arguments.operands[1]
        request.perplexityTokens = arguments[tokens]
        try request.validate()
        return request
    }
}
