import HubCore
import InferenceKit
import MemoryKit

/// One answer, in the forms of the contract.
struct ChatReport {
    var model: String
    var provider: String
    /// What came; nil if nothing did.
    var result: GenerationResult?
    /// Whether the answer came to its end.
    var isWhole = true
    /// The answer as JSON, if it is to be that.
    var value: JSON?
    var logprobs: [TokenLog] = []
    /// What the answer is based on; nil without documents.
    var sources: [MemoryExcerpt]?
    /// Where the conversation is kept.
    var conversation: String?
    /// The tokens that the model can attend to; nil where that is not known.
    var contextLength: Int?
    /// Why this provider answers, if that is asked.
    var reasons: ProviderReasons?

    init(model: String, provider: String) {
        self.model = model
        self.provider = provider
    }

    /// What is left to say when the text is out.
    func show(_ context: Context) {
        guard context.mode == .human else { return }
        if !logprobs.isEmpty {
            context.output.line()
            context.output.table(TokenLog.table(logprobs))
        }
        switch result?.finishReason {
        case .length?:
            if let result { context.output.note(AnswerEnding.cut(result, context: contextLength)) }
        case .contentFilter?: context.output.note("the provider withheld the rest of the answer")
        default: break
        }
    }

    var json: JSONObject {
        var document: JSONObject = [
            "model": .string(model), "provider": .string(RemoteModel.label(provider, servedBy: result?.servedBy)),
        ]
        if let result { add(result, to: &document) }
        document["sources"] = sources.map(SourceList.json)
        document["conversation"] = conversation.map { .string($0) }
        document["why"] = reasons?.json
        return document
    }

    private func add(_ result: GenerationResult, to document: inout JSONObject) {
        document["text"] = .string(result.text)
        document["value"] = value
        document["reasoning"] = result.reasoning.map { .string($0) }
        guard isWhole else { return }
        document["finish_reason"] = .string(result.finishReason.rawValue)
        document["usage"] = result.usageJSON
        document["tool_calls"] = .array(result.toolCalls.map(Self.json))
        document["ttft_seconds"] = result.ttftSeconds.map { .double($0) }
        document["tokens_per_second"] = result.tokensPerSecond > 0 ? .double(result.tokensPerSecond) : nil
        document["logprobs"] = logprobs.isEmpty ? nil : .array(logprobs.map(\.json))
    }

    private static func json(_ call: GeneratedToolCall) -> JSON {
        .object([
            "id": call.id.map { .string($0) }, "name": .string(call.name), "arguments": .string(call.arguments),
        ])
    }
}
