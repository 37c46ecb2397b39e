import HubCore
import InferenceKit

/// `hub embed`
enum EmbedCommand {
    static let command = Command(
        name: "embed", doc: "turn texts or pictures into vectors",
        detail: """
            Prints a vector for each TEXT, for each text of --texts and for each picture of --attach, in this order. Pictures are \
            computed on this machine only. A model with vectors of pictures and texts, such as CLIP and SigLIP, takes both: \
            their vectors are in one space. With --index, pictures that did not change are not computed again. --quiet prints one vector a line, --json all of their numbers.

            hub help references says what MODEL can be. By default this machine answers if the model is cached and fits, else, if you \
            agree on a terminal, the Hub's inference providers. Long lists go to a provider in batches.
            """,
        operands: [Operand("MODEL", .one, .modelOrFolder), Operand("TEXT", .any, .text)],
        flags: [
            InputFlags.texts.flag, InputFlags.attach.flag, InputFlags.index.flag, ProviderFlags.provider.flag,
            InputFlags.promptName.flag,
            InputFlags.dimensions.flag, ProviderFlags.timeout.minor.flag,
        ] + GenerationFlags.computing + [SharedFlags.yes.flag],
        exclusive: [["exact", "fast"], ["attach", "prompt-name"]],
        examples: [
            .init("hub embed org/model 'The sea.' 'A ship.' --json", "Two vectors."),
            .init("hub embed org/model --attach photo.jpg -q", "The vector of a picture."),
            .init(
                "hub embed org/clip --attach photo.jpg --index photos.index", "Vectors that are kept for hub rank."),
            .init(
                "hub embed --provider hf org/model --texts texts.json -q",
                "A list of texts, at a provider; one vector a line."),
        ],
        run: { try await run($0, Request($1)) })

    /// Which texts become vectors, and how.
    struct Request {
        var wish: ModelWish
        var texts: [String]
        var file: String?
        /// Files of pictures.
        var attach: [String]
        /// Where their vectors are kept; nil for nowhere.
        var index: String?
        var options: EmbeddingOptions
        /// A flag that was given and is about computing on this machine.
        var computing: String?

        /// - Throws: ``ErrorCode/invalidInput`` without a text.
        init(_ arguments: ParsedArguments) throws(AIError) {
            texts = Array(arguments.operands.dropFirst())
            file = arguments[InputFlags.texts]
            attach = arguments.all(InputFlags.attach)
            index = arguments[InputFlags.index]
            options = EmbeddingOptions(
                promptName: arguments[InputFlags.promptName], dimensions: arguments[InputFlags.dimensions])
            computing = GenerationFlags.computing.map(\.name).first(where: arguments.has)
            wish = ModelWish(
                model: arguments.operands[0],
                provider: arguments[ProviderFlags.provider] ?? (attach.isEmpty ? .auto : .local),
                capability: .embeddings,
                demand: .init(
                    command: "hub embed", options: GenerationFlags.options(arguments),
                    yes: arguments[SharedFlags.yes]),
                timeout: arguments[ProviderFlags.timeout])
            guard index == nil || !attach.isEmpty else {
                throw AIError(.invalidInput, "--index keeps vectors of pictures, and there is no --attach FILE")
            }
            guard !texts.isEmpty || file != nil || !attach.isEmpty else {
                throw AIError(
                    .invalidInput, "there is no text to embed",
                    advice: "write hub embed MODEL TEXT, or --texts FILE; --texts - reads stdin")
            }
        }
    }
}
