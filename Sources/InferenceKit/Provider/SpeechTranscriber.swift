public import HubCore

/// A provider that writes down speech.
public protocol SpeechTranscriber: AIModelProvider {
    /// The speech of a sound file as text.
    ///
    /// - Parameter file: a path; the file is read piece by piece.
    func transcribe(file: String, options: TranscriptionOptions) async throws(AIError) -> Transcription
}

extension SpeechTranscriber {
    /// The speech of a sound file as text.
    public func transcribe(file: String) async throws(AIError) -> Transcription {
        try await transcribe(file: file, options: TranscriptionOptions())
    }
}

/// How speech is written down.
public struct TranscriptionOptions: Sendable, Hashable {
    /// Whether the text comes with times.
    public var timestamps: Bool
    /// The language of the speech, as `en`; nil if the model finds it.
    public var language: String?
    /// The file's media type, `audio/flac`; nil for what its name and first bytes say.
    public var mediaType: String?
    /// Further parameters of the model, by their names; a provider that cannot pass them on refuses them.
    public var parameters: JSONObject

    /// Options; by default the text alone.
    public init(
        timestamps: Bool = false, language: String? = nil, mediaType: String? = nil, parameters: JSONObject = [:]
    ) {
        self.timestamps = timestamps
        self.language = language
        self.mediaType = mediaType
        self.parameters = parameters
    }
}

/// Speech as text.
public struct Transcription: Sendable, Hashable {
    /// A piece with its times.
    public struct Segment: Sendable, Hashable {
        /// Seconds from the beginning of the sound; nil if not told.
        public var start: Double?
        /// The same for its end; often nil for the last piece.
        public var end: Double?
        /// What is said.
        public var text: String

        /// A piece.
        public init(start: Double?, end: Double?, text: String) {
            self.start = start
            self.end = end
            self.text = text
        }
    }

    /// Everything that is said.
    public var text: String
    /// The same in pieces with their times; empty if not told.
    public var segments: [Segment]

    /// A text.
    public init(text: String, segments: [Segment] = []) {
        self.text = text
        self.segments = segments
    }
}
