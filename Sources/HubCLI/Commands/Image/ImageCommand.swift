import HubCore
import InferenceKit

/// `hub image`
enum ImageCommand {
    static let output = OutputFlags.output()
    static let size = Option<PictureSize>(
        "size", "WxH", .text, "width and height in pixels; without it the model chooses"
    ) { text throws(AIError) in try PictureSize(text) }
    static let steps = Option.whole("steps", in: 1...1000, "steps of the diffusion")
    static let guidance = Option.real(
        "guidance", "F", in: 0...1000, "how closely the picture follows the prompt")
    static let negative = Option.text("negative", "TEXT", "what the picture must not show")
    static let seed = Option.seed("seed", "make the output repeatable: where the model can")

    static let command = Command(
        name: "image", purpose: .changes, doc: "make a picture from a description",
        detail: """
            Sends PROMPT to a model at the Hub's inference providers, and writes the picture to FILE; hub cannot run such a \
            model on this machine yet. Without --provider hub asks once, on a terminal, before it sends anything.

            FILE gets its name when the picture is complete. If FILE exists, hub asks; without a terminal it needs --force. \
            A flag that the provider does not take (such as --steps) is refused before anything is sent.
            """,
        operands: [Operand("MODEL", .one, .model), Operand("PROMPT", .one, .text)],
        flags: [
            output.flag, size.flag, steps.flag, guidance.flag, negative.flag, seed.flag, SharedFlags.force.flag,
            ProviderFlags.provider.flag, ProviderFlags.timeout.flag,
        ],
        synopsis: "-o FILE [FLAGS] MODEL PROMPT",
        examples: [
            .init(
                "hub image --provider hf org/model 'A lighthouse at dusk' -o lighthouse.png", "A picture."),
            .init(
                "hub image org/model:fal-ai 'A cat' -o cat.jpg --size 1024x768 --seed 7 --force",
                "The same cat again, larger, from one provider."),
        ],
        run: { try await run($0, Request($1)) })

    /// What is painted, and where it goes.
    struct Request {
        var model: String
        var prompt: String
        var file: String
        var options: ImageOptions
        var force: Bool
        var provider: ProviderChoice
        var timeout: Double?

        /// - Throws: ``ErrorCode/invalidInput`` without a file.
        init(_ arguments: ParsedArguments) throws(AIError) {
            (model, prompt) = (arguments.operands[0], arguments.operands[1])
            guard let file = arguments[output] else {
                throw AIError(
                    .invalidInput, "missing -o FILE", advice: "write where the picture goes: -o picture.png")
            }
            self.file = file
            let size = arguments[ImageCommand.size]
            options = ImageOptions(
                width: size?.width, height: size?.height, steps: arguments[steps],
                guidanceScale: arguments[guidance],
                negativePrompt: arguments[negative], seed: arguments[seed])
            force = arguments[SharedFlags.force]
            provider = arguments[ProviderFlags.provider] ?? .auto
            timeout = arguments[ProviderFlags.timeout]
        }
    }
}

/// The size of a picture in pixels: `1024x768`.
struct PictureSize: Sendable, Hashable {
    var width: Int
    var height: Int

    /// - Throws: ``ErrorCode/invalidInput``.
    init(_ text: String) throws(AIError) {
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1] else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a size of a picture", advice: "write it like 1024x768")
        }
        let range = 1...16_384
        guard range.contains(width), range.contains(height) else {
            throw AIError(
                .invalidInput, "\(text.printable) is out of bounds: a side must be from 1 to \(range.upperBound)")
        }
        (self.width, self.height) = (width, height)
    }
}
