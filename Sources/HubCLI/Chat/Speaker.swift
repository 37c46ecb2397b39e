import HubChatTemplates
import HubCore
import InferenceKit

/// Who answers in a conversation: a model on this machine, or a remote one.
enum Speaker: Sendable {
    case local(LanguageModel, ChatTemplates)
    case remote(any ChatModel)

    /// The positions that a conversation may have; nil if unknown.
    var context: Int? {
        get async {
            switch self {
            case .local(let model, _): model.context
            case .remote(let model): await model.maxContextLength
            }
        }
    }

    /// Whether a message that does not fit needs a larger `--context`.
    var isLocal: Bool { if case .local = self { true } else { false } }

    /// The next turn as a stream.
    ///
    /// - Parameter format: the form that it must have; nil for any.
    func stream(
        _ messages: [Message], _ format: ResponseFormat?, _ config: GenerateConfig
    ) async throws -> GenerationStream {
        switch self {
        case .local(let model, let templates):
            let prompt = try await Blocking.run { try templates.render(json: messages.map(\.json)).text }
            return model.generate(prompt: prompt, addsSpecialTokens: false, config: config)
        case .remote(let model):
            return try await model.stream(messages: messages, options: ChatOptions(responseFormat: format), config: config)
        }
    }
}

/// A provider's count of tokens, or that of a model on this machine.
extension GenerationResult {
    var promptTokens: Int? { usage?.promptTokens ?? (promptIDs.isEmpty ? nil : promptIDs.count) }
    var answerTokens: Int? { usage?.completionTokens ?? (promptIDs.isEmpty ? nil : ids.count) }
    /// Tokens of the prompt that were computed before; nil if not told.
    var reusedTokens: Int? { usage.map(\.cachedTokens) ?? cachedTokens }

    /// `"usage"` of the contract; nil if nobody counted.
    var usageJSON: JSON? {
        guard let promptTokens, let answerTokens else { return nil }
        return .object([
            "prompt_tokens": .int(Int64(promptTokens)), "completion_tokens": .int(Int64(answerTokens)),
            "cached_tokens": reusedTokens.map { .int(Int64($0)) },
        ])
    }
}
