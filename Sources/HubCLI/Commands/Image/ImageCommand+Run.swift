import HubCore
import InferenceKit

extension ImageCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        guard request.prompt.contains(where: { !$0.isWhitespace }) else {
            throw AIError(.invalidInput, "the prompt is empty")
        }
        let path = context.environment.expand(request.file)
        let model = try await context.onlyRemoteModel(
            request.model, at: request.provider, timeout: request.timeout, whoWould: "make pictures")
        context.output.document(["model": .string(model.name), "provider": .string(model.label)])
        // A picture costs money: whether there is a place for it is found out before.
        try await checkPlace(request.file, path, force: request.force, kept: "nothing was sent", context)
        let picture = try await model.provider.generateImage(prompt: request.prompt, options: request.options)
        try await Blocking.run { try FileSystem.replace(path, with: picture.bytes) }
        warn(of: picture, path, context)
        context.output.render(json: json(picture, path, model), quiet: [path]) {
            context.output.line(
                Styled(path, .name)
                    + Styled("  \(picture.mediaType), \(ByteCount(Int64(picture.bytes.count)))", .faint))
        }
    }

    /// Whether a picture can be written.
    ///
    /// - Parameters:
    ///   - file: as it was typed,
    ///   - path: and where that is.
    ///   - kept: what was not done where a file is kept.
    /// - Throws: ``ErrorCode/invalidInput`` for a folder, ``ErrorCode/confirmationRequired`` for a file that may not be
    ///   replaced, and what keeps a file from being made there.
    static func checkPlace(
        _ file: String, _ path: String, force: Bool, kept: String, _ context: Context
    ) async throws {
        switch try await Blocking.run({ try FileSystem.status(path)?.kind }) {
        case .none: break
        case .directory?:
            throw AIError(.invalidInput, "\(file.printable) is a folder", context: .init(path: path))
        case .other?:
            // Renaming a file over a device would take the device away.
            throw AIError(
                .invalidInput, "\(file.printable) is not a regular file", context: .init(path: path))
        case .file?, .symlink?:
            let name = file.printable
            try await context.confirmReplacing(name, isGiven: force, kept: "\(name) is kept; \(kept)")
        }
        // A file beside it that comes and goes shows that one can be written.
        try await Blocking.run {
            let trial = "\(path).\(FileSystem.randomHex(4)).tmp"
            try FileSystem.replace(trial, with: [])
            _ = try FileSystem.remove(trial)
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
