import HubChatTemplates
import HubCore

/// Counts the tokens of conversations: as the model does, or by what the provider counted last.
struct ContextMeter: Sendable {
    /// Of the last prompt that the provider counted; at first a little more than usual.
    private var tokensPerByte = 0.33

    /// - Throws: What ``ChatModel/promptTokens(messages:options:)`` throws.
    func tokens(
        _ messages: [Message], _ options: ChatOptions, _ model: any ChatModel
    ) async throws(AIError) -> Int {
        if let count = try await model.promptTokens(messages: messages, options: options) { return count }
        return Int((Double(Self.bytes(messages, options)) * tokensPerByte).rounded(.up))
    }

    /// Learns from what a provider counted.
    mutating func learn(_ messages: [Message], _ options: ChatOptions, _ usage: TokenUsage?) {
        let bytes = Self.bytes(messages, options)
        guard let usage, usage.promptTokens > 0, bytes > 0 else { return }
        tokensPerByte = Double(usage.promptTokens) / Double(bytes)
    }

    /// Bytes of what is sent, with some for the form of each message.
    private static func bytes(_ messages: [Message], _ options: ChatOptions) -> Int {
        let tools = options.tools.reduce(0) { $0 + $1.text().utf8.count }
        return messages.reduce(tools) { sum, message in
            let calls = message.toolCalls.reduce(0) {
                $0 + $1.name.utf8.count + $1.argumentText.utf8.count
            }
            return sum + 12 + (message.content?.utf8.count ?? 0) + calls
        }
    }
}
