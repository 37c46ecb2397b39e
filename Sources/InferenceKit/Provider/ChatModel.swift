public import HubChatTemplates
public import HubCore

/// Whether the model must call a tool.
public enum ToolChoice: Sendable, Hashable {
    /// The model decides.
    case auto
    /// It calls none.
    case none
    /// It calls at least one.
    case required
    /// It calls this one.
    case tool(String)
}

/// The form of an answer.
public enum ResponseFormat: Sendable, Hashable {
    /// Any text.
    case text
    /// A JSON object.
    case jsonObject
    /// JSON that fits a schema.
    case jsonSchema(name: String, schema: JSON, isStrict: Bool = true)
}

/// How much a model reasons before it answers.
public enum ReasoningEffort: String, Sendable, Hashable, CaseIterable {
    /// Not at all.
    case none
    /// As little as it can.
    case minimal
    /// Little.
    case low
    /// The usual amount.
    case medium
    /// Much.
    case high
    /// As much as it can.
    case xhigh
}

/// What is asked of a turn besides the messages.
public struct ChatOptions: Sendable {
    /// The tools that the model may call, as templates and the OpenAI protocol take them:
    /// `{"type": "function", "function": {"name", "description", "parameters"}}`.
    public var tools: [JSON]
    /// Whether it must; nil for the provider's default.
    public var toolChoice: ToolChoice?
    /// The form of the answer; nil for the provider's default.
    public var responseFormat: ResponseFormat?
    /// How much it reasons; nil for the provider's default.
    public var reasoningEffort: ReasoningEffort?

    /// Options; by default nothing is asked.
    public init(
        tools: [JSON] = [], toolChoice: ToolChoice? = nil, responseFormat: ResponseFormat? = nil,
        reasoningEffort: ReasoningEffort? = nil
    ) {
        self.tools = tools
        self.toolChoice = toolChoice
        self.responseFormat = responseFormat
        self.reasoningEffort = reasoningEffort
    }
}

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
}

extension ChatModel {
    /// The assistant's next turn in one piece.
    public func respond(
        messages: [Message], options: ChatOptions, config: GenerateConfig
    ) async throws(AIError) -> GenerationResult {
        try await stream(messages: messages, options: options, config: config).collectWithMetadata()
    }
}
