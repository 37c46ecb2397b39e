public import HubChatTemplates
public import HubCore

/// A provider of conversations with tools and formats.
public protocol ChatModel: TextGenerator {
    /// The assistant's next turn as a stream.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what the provider cannot do, before anything is sent.
    func stream(messages: [Message], options: ChatOptions, config: GenerateConfig) async throws(AIError)
        -> GenerationStream
    /// The assistant's next turn in one piece.
    func respond(messages: [Message], options: ChatOptions, config: GenerateConfig) async throws(AIError)
        -> GenerationResult
    /// Tokens of the prompt that a conversation makes; nil if only the provider can count them.
    func promptTokens(messages: [Message], options: ChatOptions) async throws(AIError) -> Int?
    /// Prepares for conversations that begin with these messages, so that the first answer comes sooner.
    func prewarm(messages: [Message], options: ChatOptions) async throws(AIError)
}

extension ChatModel {
    /// nil: the provider counts.
    public func promptTokens(messages: [Message], options: ChatOptions) async throws(AIError) -> Int? { nil }

    /// Does what ``AIModelProvider/prepare()`` does.
    public func prewarm(messages: [Message], options: ChatOptions) async throws(AIError) { try await prepare() }

    /// The assistant's next turn in one piece.
    public func respond(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationResult {
        try await stream(messages: messages, options: options, config: config).collectWithMetadata()
    }
}
