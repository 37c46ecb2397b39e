import HubCore

/// `hub transcribe`
enum TranscribeCommand {
    /// How the text is written.
    enum Format: String, Sendable, CaseIterable {
        case text, srt, vtt, json
    }

    static let format = Option<Format>.choice(
        "format", "how the text is written; text by default",
        detail: """
            srt and vtt are subtitles, and need times: a provider that gives none is an error. json is what --json \
            prints.
            """)

    static let command = Command(
        name: "transcribe", doc: "turn the speech in a sound file into text",
        detail: """
            Sends FILE to a model at the Hub's inference providers; hub cannot run such a model on this machine yet. Without \
            --provider hub asks once, on a terminal, before it sends anything. FILE is sent as it is: flac, wav, mp3, ogg, \
            m4a, webm. Providers limit its size, often to 25 MB.
            """,
        operands: [Operand("MODEL", .one, .model), Operand("FILE", .one, .file)],
        flags: [format.flag, ProviderFlags.provider.flag, ProviderFlags.timeout.flag],
        examples: [
            .init("hub transcribe --provider hf openai/whisper-large-v3 talk.flac", "The text."),
            .init(
                "hub transcribe --provider hf org/model talk.mp3 --format srt > talk.srt",
                "Subtitles."),
        ],
        run: { try await run($0, Request($1)) })

    /// What is written down, and how.
    struct Request {
        var model: String
        var file: String
        var format: Format?
        var provider: ProviderChoice
        var timeout: Double?

        init(_ arguments: ParsedArguments) {
            (model, file) = (arguments.operands[0], arguments.operands[1])
            format = arguments[TranscribeCommand.format]
            provider = arguments[ProviderFlags.provider] ?? .auto
            timeout = arguments[ProviderFlags.timeout]
        }
    }
}
