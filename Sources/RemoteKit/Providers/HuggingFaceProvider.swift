import Fetcher
public import HubChatTemplates
public import HubCore
public import InferenceKit

/// A model that the Hub's inference providers serve, through the Hub's router.
///
/// With the Hub's own token (`hf_...`) everything goes to the router. Another key is one provider's own: then calls go to
/// that provider's host, never to the router, and nothing is billed through the Hub.
public final class HuggingFaceProvider: ChatModel, EmbeddingModel, SpeechTranscriber, ImageGenerator {
    /// How calls are made.
    public struct Settings: Sendable {
        /// The source of the token.
        public var token: HFTokenProvider = .auto
        /// The organisation or resource group that pays; nil for the token's owner.
        public var billTo: String?
        /// The times.
        public var limits = RemoteLimits()

        /// The usual settings.
        public init() {}
    }

    /// `org/name:suffix`
    public let identifier: String
    /// The model, and who must serve it.
    public let model: RemoteModelName
    private let settings: Settings
    private let context: RemoteContext
    private let router: Endpoint

    /// A provider of a model. Nothing is sent yet.
    ///
    /// - Parameter model: `org/name`, `org/name:groq` or `org/name:cheapest`.
    /// - Throws: ``ErrorCode/invalidInput`` for an invalid `HUB_INFERENCE_ENDPOINT`, or for who pays if it is not a name.
    public init(
        model: RemoteModelName, settings: Settings = Settings(), context: RemoteContext = RemoteContext()
    ) throws(AIError) {
        if let payer = settings.billTo, payer.isEmpty || !payer.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw AIError(.invalidInput, "\"\(payer.printable)\" is not the name of an organisation")
        }
        router = try context.environment.inferenceEndpoint()
        self.model = model
        self.settings = settings
        self.context = context
        identifier = model.description
    }

    /// The name shown to people: `org/name at groq`.
    public var displayName: String { model.provider.map { "\(model.repository) at \($0)" } ?? model.description }
    /// Always false.
    public var isOnDevice: Bool { false }
    /// What `--json` calls the provider: `hf:groq`, or `hf` if the router chooses.
    public var label: String { model.provider.map { "hf:\($0)" } ?? "hf" }

    /// Whether there is a token and the network may be used. Sends nothing.
    public var availability: ProviderAvailability {
        get async {
            if context.isOffline { return .unavailable(.networkUnavailable) }
            do throws(AIError) {
                let isThere = try await token() != nil
                return isThere ? .available : .unavailable(.apiKeyMissing)
            } catch { return .unavailable(.unknown(error.message)) }
        }
    }

    /// The longest context among the offers that are remembered; nil if unknown. Sends nothing.
    public var maxContextLength: Int? {
        get async {
            let offers = await ServingDirectory(context).remembered(model.repository)?.offers ?? []
            return offers.filter { model.provider == nil || $0.provider == model.provider }.compactMap(
                \.contextLength
            )
            .max()
        }
    }

    /// Asks who serves the model.
    ///
    /// - Throws: ``ErrorCode/modelNotServed`` if nobody does, or not the provider that the name asks for.
    public func prepare() async throws(AIError) {
        let served = try await ServingDirectory(context, limits: settings.limits).offers(for: model.repository)
        guard served.offers.contains(where: { model.provider == nil || $0.provider == model.provider }) else {
            throw AIError(
                .modelNotServed,
                (model.provider.map { "\($0) does not serve" } ?? "nobody serves") + " \(model.repository)",
                context: .init(repository: model.repository.name))
        }
    }

    /// Does nothing.
    public func cleanup() async {}

    private func token() async throws(AIError) -> AccessToken? {
        if settings.token == .auto { try await context.workspace.renewToken() }
        // A token file is read from the disk.
        do {
            return try await Blocking.run { [settings, context] in try settings.token.token(in: context.environment)
            }
        } catch {
            throw AIError.wrapping(error)
        }
    }

    private func routing() async throws(AIError) -> HubRouting {
        let token = try await token()
        if let token, !Credential.isOfHub(token), model.provider == nil {
            throw AIError(
                .invalidInput, "the key in use does not begin with hf_, so that it is a provider's own",
                advice: "name the provider: \(model.repository):groq; or use a token of the Hub")
        }
        return HubRouting(
            model: model, token: token, router: router, billTo: settings.billTo, limits: settings.limits,
            context: context)
    }
}

extension HuggingFaceProvider {
    // MARK: Conversations

    /// The assistant's next turn as a stream. Each iteration asks again, and is charged again.
    public func stream(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        try await call(messages, options, config).stream()
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
    ) async throws(AIError) -> ChatCall {
        var body = ChatBody(
            model: model.description, messages: messages, options: options, config: config, dialect: .hub)
        // What cannot be sent is refused before anybody is asked.
        _ = try body.json(isStream: false)
        var needs = ConversationNeeds(tools: !options.tools.isEmpty && options.toolChoice != ToolChoice.none)
        if case .jsonSchema = options.responseFormat { needs.structuredOutput = true }
        let route = try await routing().conversation(needs)
        body.model = route.providerID
        guard let routes = route.routes, let path = routes.chat else {
            return ChatCall(
                client: route.client, address: "\(route.base)/v1/chat/completions", body: body,
                servedBy: route.provider)
        }
        body.schemaForm = routes.schemaForm
        if routes.name == "openai" { body.dialect.maxTokens = ChatDialect.openAIItself.maxTokens }
        return ChatCall(client: route.client, address: route.base + path, body: body, servedBy: route.provider)
    }

    // MARK: Other tasks

    /// Texts as vectors, in batches.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for options that the provider cannot be given.
    public func embed(_ texts: [String], options: EmbeddingOptions) async throws(AIError) -> [EmbeddingResult] {
        guard !texts.isEmpty else { return [] }
        let route = try await routing().route(.embedding)
        let call: EmbeddingCall
        switch route.routes?.embeddings {
        case .openAI(let path):
            call = EmbeddingCall(
                client: route.client, address: route.base + path, form: .openAI(route.providerID), model: identifier
            )
        default:
            call = EmbeddingCall(
                client: route.client,
                address: "\(route.base)/models/\(route.providerID)/pipeline/feature-extraction",
                form: .pipeline, model: identifier)
        }
        return try await call.run(texts, options)
    }

    /// The speech of a sound file as text.
    ///
    /// - Throws: ``ErrorCode/fileNotFound``; ``ErrorCode/invalidInput`` for options that the provider cannot be given,
    ///   and for what is not a sound file.
    public func transcribe(file: String, options: TranscriptionOptions) async throws(AIError) -> Transcription {
        let route = try await routing().route(.speech)
        return try await SpeechCall(
            client: route.client, base: route.base, route: route.routes?.speech ?? .hub,
            providerID: route.providerID,
            model: identifier
        ).run(file, options)
    }

    /// A picture of what a prompt describes.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for options that the provider cannot be given.
    public func generateImage(prompt: String, options: ImageOptions) async throws(AIError) -> GeneratedImage {
        let route = try await routing().route(.image)
        let hub = context.workspace.configuration.endpoint
        return try await ImageCall(
            client: route.client, base: route.base, route: route.routes?.images ?? .hub,
            providerID: route.providerID,
            model: identifier,
            adapter: route.adapterPath.map {
                "\(hub)/\(model.repository)/resolve/main/\(PercentEncoding.encode($0, keeping: "/"))"
            }, servedBy: route.provider
        ).run(prompt, options)
    }
}
