public import HubChatTemplates
public import HubCore
import HubTokenizers

/// A model folder as a provider; opened once, when it is first needed. What the model is not for throws
/// ``ErrorCode/unsupportedModel``.
public actor LocalModel: ChatModel {
    /// The folder.
    public nonisolated let identifier: String
    /// The name shown to people; by default the folder's last path component.
    public nonisolated let displayName: String
    /// Always true: nothing here uses a network.
    public nonisolated var isOnDevice: Bool { true }
    private let folder: String
    private let options: ModelOptions
    /// A model that was open before.
    private let opened: LanguageModel?
    /// What conversations are rendered with; nil for the model's own.
    private let templates: ChatTemplates?
    private var opening: Task<Result<LanguageModel, AIError>, Never>?

    /// A provider of a model folder; nothing is read yet.
    public init(folder: String, displayName: String? = nil, options: ModelOptions = ModelOptions()) {
        self.folder = folder
        self.options = options
        opened = nil
        templates = nil
        identifier = folder
        self.displayName = displayName ?? Path.name(folder)
    }

    /// A provider of a model that is open, and stays open: ``cleanup()`` does nothing.
    ///
    /// - Parameter templates: chat templates in place of the model's own.
    public init(_ model: LanguageModel, displayName: String? = nil, templates: ChatTemplates? = nil) {
        folder = model.inspection.folder
        options = ModelOptions()
        opened = model
        self.templates = templates
        identifier = folder
        self.displayName = displayName ?? Path.name(folder)
    }

    /// Whether the folder's model can be opened, from its headers and the free memory.
    public var availability: ProviderAvailability {
        get async {
            opened != nil ? .available : await LanguageModel.availability(folder: folder, options: options)
        }
    }

    /// The context that the model has, or would be opened with.
    public var maxContextLength: Int? {
        get async {
            if let opened { return opened.context }
            if let opening, case .success(let model) = await opening.value { return model.context }
            guard let own = try? await ModelInspection.inspect(folder: folder).contextLength else { return nil }
            return options.context ?? min(own, ModelOptions.defaultContext)
        }
    }

    /// Opens the model.
    public func prepare() async throws(AIError) { _ = try await model() }

    /// Closes the model when the last generation on it has ended.
    public func cleanup() { opening = nil }

    /// Generates from a raw prompt.
    public func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult {
        try await model().generate(prompt: prompt, config: config).collectWithMetadata()
    }

    /// The same as a stream; the model is open when this returns.
    public func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream {
        try await model().generate(prompt: prompt, config: config)
    }

    /// The assistant's next turn of a conversation, through the model's chat template, as a stream.
    public func stream(
        messages: [Message], _ options: ChatTemplate.Options, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        try await model().generate(messages: messages, options, templates, config: config)
    }

    /// The assistant's next turn. Reasoning and tool calls are told from the text by the forms that the chat template
    /// shows; the calls are in the result.
    ///
    /// A demanded call (``ToolChoice/required``, ``ToolChoice/tool(_:)``) is begun for the model. With
    /// ``ToolChoice/none`` the model hears of no tools.
    ///
    /// With a ``ChatOptions/responseFormat`` the answer after the reasoning follows it. Calls follow the schemas of their
    /// tools where they are JSON; a schema that ``OutputGrammar`` refuses stands for any object.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for tools and a reasoning effort that the chat template does not know, for a
    ///   format that is not supported, and for one beside tools; ``ErrorCode/unsupportedModel`` for pictures and for a
    ///   model without a template; what the template refuses.
    public func stream(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        let model = try await model()
        return model.generate(try await model.chatPrompt(for: messages, options, templates), config: config)
    }

    /// Tokens of the prompt that the chat template makes.
    public func promptTokens(messages: [Message], options: ChatOptions) async throws(AIError) -> Int? {
        let model = try await model()
        let prompt = try await model.chatPrompt(for: messages, options, templates)
        return try model.tokenizer.encode(prompt.text, addSpecialTokens: false).count
    }

    /// Opens the model, and computes what the prompts of all conversations with these messages begin with.
    public func prewarm(messages: [Message], options: ChatOptions) async throws(AIError) {
        let model = try await model()
        // Whatever is said next, prompts are the same up to there.
        let one = try await model.chatPrompt(for: messages + [.user("A")], options, templates)
        let other = try await model.chatPrompt(for: messages + [.user("1")], options, templates)
        let shared = String(zip(one.text, other.text).prefix { $0 == $1 }.map(\.0))
        guard !shared.isEmpty else { return }
        _ = try await model.generate(prompt: shared, addsSpecialTokens: false, config: .precise.maxTokens(1))
            .collectWithMetadata()
    }

    /// Concurrent callers wait for the same opening; a failure is retried next time.
    private func model() async throws(AIError) -> LanguageModel {
        if let opened { return opened }
        let task = opening ?? Task { [folder, options] in await Self.open(folder, options) }
        opening = task
        let result = await task.value
        if case .failure = result, opening == task { opening = nil }
        return try result.get()
    }

    private static func open(_ folder: String, _ options: ModelOptions) async -> Result<LanguageModel, AIError> {
        do throws(AIError) {
            return .success(try await LanguageModel.open(folder: folder, options: options))
        } catch {
            return .failure(error)
        }
    }
}

extension LocalModel: EmbeddingModel, Reranker, TextClassifier, TokenClassifier, MaskFiller, Translator {
    /// A text in another language, as ``LanguageModel/translate(_:_:)`` says it.
    public func translate(_ text: String, _ translation: Translation) async throws(AIError) -> String {
        try await model().translate(text, translation)
    }

    /// Texts as vectors, as ``LanguageModel/embed(_:options:)`` makes them.
    public func embed(_ texts: [String], options: EmbeddingOptions) async throws(AIError) -> [EmbeddingResult] {
        try await model().embed(texts, options: options)
    }

    /// Texts by how well they answer a query, as ``LanguageModel/rank(_:for:)`` says.
    public func rank(_ texts: [String], for query: String) async throws(AIError) -> [RankedText] {
        try await model().rank(texts, for: query)
    }

    /// The labels of texts, as ``LanguageModel/classify(_:)`` says.
    public func classify(_ texts: [TextPair]) async throws(AIError) -> [[TextLabel]] {
        try await model().classify(texts)
    }

    /// Which of some labels fits a text, as ``LanguageModel/classify(_:as:)`` says.
    public func classify(_ text: String, as labels: [String]) async throws(AIError) -> [TextLabel] {
        try await model().classify(text, as: labels)
    }

    /// The labels of texts' tokens, as ``LanguageModel/labelTokens(_:)`` says.
    public func labelTokens(_ texts: [String]) async throws(AIError) -> [[TokenLabel]] {
        try await model().labelTokens(texts)
    }

    /// The words behind a text's masks, as ``LanguageModel/fill(_:count:)`` says.
    public func fill(_ text: String, count: Int) async throws(AIError) -> [[MaskCandidate]] {
        try await model().fill(text, count: count)
    }
}
