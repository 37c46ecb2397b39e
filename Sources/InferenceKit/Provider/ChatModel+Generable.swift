public import HubChatTemplates
public import HubCore
public import HubGrammar

extension ChatModel {
    /// The assistant's next turn as a value.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for an answer that was cut before it was complete;
    ///   ``ErrorCode/invalidInput`` for a provider that cannot be held to a schema.
    public func respond<Value: Generable>(
        messages: [Message], generating type: Value.Type, options: ChatOptions = ChatOptions(),
        config: GenerateConfig = .default
    ) async throws(AIError) -> Value {
        var options = options
        options.responseFormat = .jsonSchema(name: "answer", schema: type.schema.json)
        let result = try await respond(messages: messages, options: options, config: config)
        guard result.finishReason != .length else {
            throw AIError(
                .generationFailed, "the answer was cut before it was complete", cause: PartialAnswer(result))
        }
        return try Value(answer: result.text)
    }
}
