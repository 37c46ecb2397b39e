import HubCore
import InferenceKit

extension ImageCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        guard request.prompt.contains(where: { !$0.isWhitespace }) else {
            throw AIError(.invalidInput, "the prompt is empty")
        }
        let file = OutputFile(request.file, context)
        let path = file.path
        let model = try await context.onlyRemoteModel(
            request.model, at: request.provider, timeout: request.timeout, whoWould: "make pictures")
        context.output.document(["model": .string(model.name), "provider": .string(model.label)])
        // A picture costs money: whether there is a place for it is found out before.
        try await file.check(isForced: request.force, kept: "nothing was sent", context)
        let picture = try await model.provider.generateImage(prompt: request.prompt, options: request.options)
        try await file.write(picture.bytes)
        warn(of: picture, path, context)
        context.output.render(json: json(picture, path, model), quiet: [path]) {
            context.output.line(
                Styled(path, .name)
                    + Styled("  \(picture.mediaType), \(ByteCount(Int64(picture.bytes.count)))", .faint))
        }
    }

    /// A name that ends otherwise than what the picture is.
    private static func warn(of picture: GeneratedImage, _ path: String, _ context: Context) {
        let endings = [
            "image/png": ["png"], "image/jpeg": ["jpg", "jpeg"], "image/webp": ["webp"], "image/gif": ["gif"],
        ]
        guard let usual = endings[picture.mediaType] else { return }
        let name = Path.name(path).lowercased()
        guard name.contains("."), !usual.contains(where: { name.hasSuffix(".\($0)") }) else { return }
        context.output.warning("\(path) holds \(picture.mediaType), which its name does not say")
    }

    private static func json(_ picture: GeneratedImage, _ path: String, _ model: RemoteModel) -> JSONObject {
        [
            "model": .string(model.name),
            "provider": .string(RemoteModel.label(model.label, servedBy: picture.servedBy)),
            "served_by": picture.servedBy.map { .string($0) }, "path": .string(path),
            "media_type": .string(picture.mediaType), "size_bytes": .int(Int64(picture.bytes.count)),
        ]
    }
}
