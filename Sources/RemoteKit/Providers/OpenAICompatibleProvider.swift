public import HubChatTemplates
public import HubCore
public import InferenceKit

/// A model behind any server that speaks OpenAI's protocol: OpenAI itself, vLLM, llama.cpp, Ollama, hub serve.
public final class OpenAICompatibleProvider: ChatModel, EmbeddingModel, SpeechTranscriber, ImageGenerator {
    /// Which fields beyond OpenAI's a server takes. Others ignore what they do not know, so that hub must know.
    public enum Dialect: String, Sendable, Hashable, CaseIterable {
        /// OpenAI's fields alone.
        case openAI = "openai"
        /// Also top_k, min_p, repetition_penalty and ignore_eos: vLLM, SGLang.
        case vLLM = "vllm"
        /// Also top_k, min_p, repeat_penalty, typical_p and ignore_eos: llama.cpp.
        case llamaCpp = "llama.cpp"
    }

    /// How calls are made.
    public struct Settings: Sendable {
        /// The server's key; nil sends none.
        public var key: AccessToken?
        /// What the server takes.
        public var dialect = Dialect.openAI
        /// Tokens of a prompt and its answer together, if known.
        public var contextLength: Int?
        /// The times.
        public var limits = RemoteLimits()

        /// The usual settings.
        public init() {}
    }

    /// `model at origin`
    public let identifier: String
    /// The model's name at the server.
    public let model: String
    private let address: ServerAddress
    private let settings: Settings
    private let context: RemoteContext
    private let client: RemoteClient

    /// A provider of a server's model. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - address: `http://host:port`, the same ending in `/v1`, or the whole address of its chat completions.
    ///   - model: the server's name of the model.
    /// - Throws: ``ErrorCode/invalidInput`` for what is not such an address, for a token of the Hub as its key, and for a
    ///   key that would go by plain http to another machine.
    public init(
        address: String, model: String, settings: Settings = Settings(), context: RemoteContext = RemoteContext()
    ) throws(AIError) {
        guard !model.isEmpty else { throw AIError(.invalidInput, "the name of the model is empty") }
        self.address = try ServerAddress(address)
        self.model = model
        self.settings = settings
        self.context = context
        let origin = self.address.origin
        identifier = "\(model) at \(origin)"
        var credential: Credential?
        if let key = settings.key {
            guard !Credential.isOfHub(key) || origin == Endpoint.huggingFaceRouter.origin else {
                throw AIError(
                    .invalidInput, "the key for \(origin) is a token of the Hub, which goes nowhere else",
                    advice: "give that server's own key")
            }
            credential = try Credential(key, to: origin)
        }
        client = RemoteClient(
            context, settings.limits, credential: credential, name: origin.description, isHub: false)
    }

    /// The name shown to people.
    public var displayName: String { identifier }
    /// Whether the server is on this machine.
    public var isOnDevice: Bool { address.origin.isLoopback }
    /// Where the server is: what its key belongs to.
    public var origin: Origin { address.origin }
    /// What `--json` calls the provider: the server's origin.
    public var label: String { address.origin.description }
    /// Whether the network may be used. Sends nothing.
    public var availability: ProviderAvailability {
        get async { context.isOffline ? .unavailable(.networkUnavailable) : .available }
    }
    /// What the settings say.
    public var maxContextLength: Int? { get async { settings.contextLength } }
    /// Does nothing.
    public func prepare() async throws(AIError) {}
    /// Does nothing.
    public func cleanup() async {}

    /// The names of the server's models.
    public func models() async throws(AIError) -> [String] {
        let json = try await client.json(.get(address.route("/models")), by: Deadline(settings.limits))
        guard let entries = json["data"]?.array else {
            throw AIError(
                .protocolViolation, "\(label) answers with JSON that is not a list of models",
                advice: "is it the address of an OpenAI-compatible server?")
        }
        return entries.compactMap { $0["id"]?.string }
    }

    private var dialect: ChatDialect {
        switch settings.dialect {
        case .openAI: address.origin.host == "api.openai.com" ? .openAIItself : .openAI
        case .vLLM: .vLLM
        case .llamaCpp: .llamaCpp
        }
    }
}

extension OpenAICompatibleProvider {
    /// The assistant's next turn as a stream. Each iteration asks again, and is charged again.
    public func stream(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        try call(messages, options, config).stream()
    }

    /// The assistant's next turn in one piece, asked for without a stream: its first byte comes when the answer is whole,
    /// so that a long one is better streamed and collected.
    public func respond(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationResult {
        try await call(messages, options, config).respond()
    }

    private func call(
        _ messages: [Message], _ options: ChatOptions, _ config: GenerateConfig
    ) throws(AIError) -> ChatCall {
        try context.requireNetwork(for: label)
        return ChatCall(
            client: client, address: address.route("/chat/completions"),
            body: ChatBody(model: model, messages: messages, options: options, config: config, dialect: dialect))
    }

    /// Texts as vectors, in batches.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for the name of a prompt, which the protocol does not have.
    public func embed(_ texts: [String], options: EmbeddingOptions) async throws(AIError) -> [EmbeddingResult] {
        guard !texts.isEmpty else { return [] }
        return try await EmbeddingCall(
            client: client, address: address.route("/embeddings"), form: .openAI(model), model: model
        ).run(texts, options)
    }

    /// The speech of a sound file as text.
    public func transcribe(file: String, options: TranscriptionOptions) async throws(AIError) -> Transcription {
        try await SpeechCall(
            client: client, base: "", route: .form(address.route("/audio/transcriptions")), providerID: model,
            model: model
        ).run(file, options)
    }

    /// A picture of what a prompt describes.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for options that the protocol does not have: all but the size.
    public func generateImage(prompt: String, options: ImageOptions) async throws(AIError) -> GeneratedImage {
        try await ImageCall(
            client: client, base: "", route: .openAI(address.route("/images/generations"), .openAI),
            providerID: model, model: model, servedBy: nil
        ).run(prompt, options)
    }
}
