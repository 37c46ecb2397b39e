import HubCore
import InferenceKit

extension TranscribeCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        let format = try format(request, context)
        let path = context.environment.expand(request.file)
        switch try await Blocking.run({ try FileSystem.status(path)?.kind }) {
        case .none:
            throw AIError(
                .fileNotFound, "\(request.file.printable) does not exist", context: .init(path: path))
        case .directory?:
            throw AIError(.invalidInput, "\(request.file.printable) is a folder", context: .init(path: path))
        default: break
        }
        let model = try await context.onlyRemoteModel(
            request.model, at: request.provider, timeout: request.timeout, whoWould: "write down speech")
        let speech = try await model.provider.transcribe(
            file: path, options: TranscriptionOptions(timestamps: format != .text || context.mode == .json))
        try show(speech, format, model, context)
    }

    /// - Throws: ``ErrorCode/invalidInput`` for subtitles within JSON.
    private static func format(_ request: Request, _ context: Context) throws(AIError) -> Format {
        guard context.mode == .json, let format = request.format, format != .json else {
            return request.format ?? .text
        }
        throw AIError(
            .invalidInput, "--format \(format.rawValue) and --json cannot be used together",
            advice: "--json has the times of the pieces, too")
    }

    private static func show(
        _ speech: Transcription, _ format: Format, _ model: RemoteModel, _ context: Context
    ) throws(AIError) {
        let output = context.output
        let document = json(speech)
        if context.mode == .json { return output.document(document) }
        switch format {
        case .json: output.value(JSON.object(document).text(output.settings.outputIsTerminal ? .pretty : .compact))
        case .text: output.stream(speech.text + (speech.text.hasSuffix("\n") ? "" : "\n"))
        case .srt: output.stream(try Subtitles(speech, at: model.label).srt)
        case .vtt: output.stream(try Subtitles(speech, at: model.label).vtt)
        }
    }

    private static func json(_ speech: Transcription) -> JSONObject {
        [
            "text": .string(speech.text),
            "segments": .array(
                speech.segments.map {
                    .object([
                        "start": $0.start.map { .double($0) }, "end": $0.end.map { .double($0) },
                        "text": .string($0.text),
                    ])
                }),
        ]
    }
}
