import HubCore

/// `hub tokenize`
enum TokenizeCommand {
    static let command = Command(
        name: "tokenize", doc: "show the tokens of texts, or a conversation as the model reads it",
        detail: """
            Prints the ids of each text's tokens; on a terminal each id stands beside its piece of the text. With --render, \
            prints a conversation as the chat template writes it. Neither needs the weights of the model.
            """,
        operands: [Operand("MODEL", .one, .modelOrFolder), Operand("TEXT", .any, .text)],
        flags: [
            InputFlags.texts.flag, TryCommand.render.flag, TryCommand.template.flag, InputFlags.gguf.flag,
            SharedFlags.yes.flag,
        ],
        exclusive: [["texts", "render"]],
        examples: [
            .init("hub tokenize org/model 'Hello, world'", "Its tokens and their ids."),
            .init("hub tokenize org/model --render messages.json", "The prompt that a conversation becomes."),
        ],
        run: { try await TryCommand.run($0, try request($1)) })

    private static func request(_ arguments: ParsedArguments) throws(AIError) -> TryCommand.Request {
        var request = TryCommand.Request(reading: arguments, command: command)
        let texts = Array(arguments.operands.dropFirst())
        guard request.render != nil || !texts.isEmpty || request.texts != nil else {
            throw AIError(
                .invalidInput, "there is no text to tokenize",
                advice: "write hub tokenize MODEL TEXT, --texts FILE or --render FILE")
        }
        guard request.render == nil || texts.isEmpty else {
            throw AIError(.invalidInput, "--render renders a file; a TEXT has no place beside it")
        }
        if request.render == nil { request.tokenize = (texts, request.texts) }
        request.texts = nil
        try request.validate()
        return request
    }
}
