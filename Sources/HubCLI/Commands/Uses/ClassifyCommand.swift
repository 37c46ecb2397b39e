import HubCore
import InferenceKit

/// `hub classify`
enum ClassifyCommand {
    static let command = Command(
        name: "classify", doc: "label a text or pictures",
        detail: """
            Prints the labels of TEXT, or of each picture of --attach, the likeliest first. A model for tokens gives each \
            token its label. Labels of your own, by --labels, are tried on a text by a model for natural language inference, \
            and on pictures by a model with vectors of pictures and texts, such as CLIP and SigLIP. hub help references says \
            what MODEL can be.
            """,
        operands: [Operand("MODEL", .one, .modelOrFolder), Operand("TEXT", .optional, .text)],
        flags: [
            InputFlags.attach.flag, TryCommand.labels.flag, TryCommand.labelTemplate.flag, TryCommand.textPair.flag,
            InputFlags.gguf.flag,
        ] + GenerationFlags.computing + [SharedFlags.yes.flag],
        exclusive: [["exact", "fast"], ["labels", "text-pair"], ["text-pair", "attach"]],
        examples: [
            .init("hub classify org/sentiment 'I like it.'", "Positive or negative."),
            .init("hub classify org/nli 'The ship left.' --labels travel,food", "Labels of your own."),
            .init("hub classify org/vit --attach photo.jpg", "What a picture shows."),
            .init("hub classify org/clip --attach photo.jpg --labels cat,dog", "Which of your labels fits it."),
        ],
        run: { try await TryCommand.run($0, try request($1)) })

    private static func request(_ arguments: ParsedArguments) throws(AIError) -> TryCommand.Request {
        var request = TryCommand.Request(reading: arguments, command: command)
        request.prompt = arguments.operands.count > 1 ? arguments.operands[1] : nil
        request.tasks = [.classification, .tokenClassification, .imageClassification, .zeroShotImages]
        guard request.prompt != nil || !request.attach.isEmpty else {
            throw AIError(
                .invalidInput, "there is nothing to classify",
                advice: "write hub classify MODEL TEXT, or hub classify MODEL --attach FILE")
        }
        try request.validate()
        return request
    }
}
