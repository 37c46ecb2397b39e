import HubChatTemplates
import HubCore
import HubTokenizers
import InferenceKit

/// Who answers in a conversation: a model on this machine, or a remote one.
enum Speaker: Sendable {
    case local(LanguageModel, ChatTemplates)
    case remote(any ChatModel)
    /// Either of them, with tools to call.
    indirect case equipped(Speaker, ChatTools)

    /// The positions that a conversation may have; nil if unknown.
    var context: Int? {
        get async {
            switch self {
            case .local(let model, _): model.context
            case .remote(let model): await model.maxContextLength
            case .equipped(let speaker, _): await speaker.context
            }
        }
    }

    /// Whether a message that does not fit needs a larger `--context`.
    var isLocal: Bool {
        switch self {
        case .local: true
        case .remote: false
        case .equipped(let speaker, _): speaker.isLocal
        }
    }

    /// Its tools; nil without any.
    var tools: ChatTools? { if case .equipped(_, let tools) = self { tools } else { nil } }

    /// What the texts of single tokens come from; nil for a remote model, which tells them.
    var tokenizer: Tokenizer? {
        switch self {
        case .local(let model, _): model.tokenizer
        case .remote: nil
        case .equipped(let speaker, _): speaker.tokenizer
        }
    }

    /// This with tools, if there are any.
    func using(_ tools: ChatTools?) -> Speaker { tools.map { .equipped(self, $0) } ?? self }

    private func model(_ trace: ToolTrace) -> any ChatModel {
        switch self {
        case .local(let model, let templates): LocalModel(model, templates: templates)
        case .remote(let model): model
        case .equipped(let speaker, let tools): ToolUsingModel(speaker.model(trace), tools, trace)
        }
    }

    /// The next turn as a stream.
    ///
    /// - Parameters:
    ///   - format: the form that it must have; nil for any.
    ///   - trace: what tools did on the way to it, once it has come.
    func stream(
        _ messages: [Message], _ format: ResponseFormat?, _ config: GenerateConfig, _ trace: ToolTrace
    ) async throws -> GenerationStream {
        try await model(trace).stream(
            messages: tools == nil ? messages.withoutToolCalls : messages,
            options: ChatOptions(responseFormat: format), config: config)
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
