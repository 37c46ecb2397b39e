public import HubChatTemplates
public import HubCore

/// A model provider for a chat application: a model in a folder, or a service.
public protocol AIModelProvider: Sendable {
    /// A unique identifier.
    var identifier: String { get }
    /// The name shown to people.
    var displayName: String { get }
    /// Whether all text stays on this machine.
    var isOnDevice: Bool { get }
    /// Whether it can be used now, and why not.
    var availability: ProviderAvailability { get async }
    /// Maximum number of tokens of a prompt and its answer together; nil if unknown.
    var maxContextLength: Int? { get async }
    /// Prepares for the first answer; further calls do nothing.
    func prepare() async throws(AIError)
    /// Releases the resources of ``prepare()``; the provider can be prepared again.
    func cleanup() async
}

extension AIModelProvider {
    /// Whether it can be used now.
    public var isAvailable: Bool { get async { await availability.isAvailable } }

    /// Whether a prompt and its answer of this many tokens fit; false if unknown.
    public func canHandle(contextSize: Int) async -> Bool {
        guard let longest = await maxContextLength else { return false }
        return contextSize <= longest
    }
}

/// A provider that generates text.
public protocol TextGenerator: AIModelProvider {
    /// Generates from a raw prompt.
    func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult
    /// The same as a stream.
    func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream
    /// The assistant's next turn of a conversation as a stream.
    func stream(messages: [Message], _ options: ChatTemplate.Options, config: GenerateConfig) async throws(AIError)
        -> GenerationStream
}

extension TextGenerator {
    /// The assistant's next turn of a conversation as a stream, with the template's default options.
    public func stream(messages: [Message], config: GenerateConfig) async throws(AIError) -> GenerationStream {
        try await stream(messages: messages, ChatTemplate.Options(), config: config)
    }
}
