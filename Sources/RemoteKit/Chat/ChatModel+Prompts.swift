public import HubChatTemplates
public import HubCore
public import InferenceKit

/// Remote models know conversations only; what else a text generator is asked for becomes one.
extension ChatModel {
    /// Generates from a prompt, which is sent as a user's turn.
    public func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult {
        try await respond(messages: [.user(prompt)], options: ChatOptions(), config: config)
    }

    /// The same as a stream.
    public func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream {
        try await stream(messages: [.user(prompt)], options: ChatOptions(), config: config)
    }

    /// The assistant's next turn. Of a template's options only tools and `reasoning_effort` can be sent; others are
    /// refused.
    public func stream(
        messages: [Message], _ options: ChatTemplate.Options, config: GenerateConfig
    ) async throws(AIError) -> GenerationStream {
        try await stream(messages: messages, options: try ChatOptions(options), config: config)
    }
}
