import HubChatTemplates
import HubCore
import InferenceKit

/// Lines of an answer as Ollama's clients read them.
struct OllamaAnswer: Sendable {
    enum Form: Sendable { case chat, generate }

    let form: Form
    let model: String
    let logprobs: Bool
    let start = Clock.seconds
    /// Whether the model had to be opened for this.
    var opens = false
    /// Log probabilities of an answer in one piece.
    private let noted = Lock<[JSON]>([])

    init(_ form: Form, model: String, logprobs: Bool) {
        (self.form, self.model, self.logprobs) = (form, model, logprobs)
    }

    private func line(_ text: String, _ reasoning: String, calls: [JSON] = [], logprobs: [JSON] = []) -> JSONObject
    {
        var line: JSONObject = ["model": .string(model), "created_at": OllamaTime.now]
        switch form {
        case .chat:
            line["message"] = .object([
                "role": "assistant", "content": .string(text),
                "thinking": reasoning.isEmpty ? nil : .string(reasoning),
                "tool_calls": calls.isEmpty ? nil : .array(calls),
            ])
        case .generate:
            line["response"] = .string(text)
            if !reasoning.isEmpty { line["thinking"] = .string(reasoning) }
        }
        if !logprobs.isEmpty { line["logprobs"] = .array(logprobs) }
        line["done"] = false
        return line
    }

    /// A chunk as a line of its own; nil where it shows nothing.
    func line(_ model: OpenModel, _ chunk: GenerationChunk) -> JSON? {
        let entry = logprobs ? AnswerParts.logprob(chunk, model) : nil
        if chunk.text.isEmpty, chunk.reasoning.isEmpty, entry == nil { return nil }
        return .object(line(chunk.text, chunk.reasoning, logprobs: entry.map { [$0] } ?? []))
    }

    func note(_ model: OpenModel, _ chunk: GenerationChunk) {
        guard logprobs, let entry = AnswerParts.logprob(chunk, model) else { return }
        noted.withLock { $0.append(entry) }
    }

    /// The calls of an answer as a line; nil without any.
    func calls(_ result: GenerationResult) throws -> JSON? {
        result.toolCalls.isEmpty ? nil : .object(line("", "", calls: try Self.calls(result)))
    }

    private static func calls(_ result: GenerationResult) throws -> [JSON] {
        try result.toolCalls.enumerated().map { number, call in
            let parsed = try call.parsed()
            return .object([
                "id": call.id.map { .string($0) },
                "function": .object([
                    "index": .int(Int64(number)), "name": .string(parsed.name),
                    "arguments": .object(parsed.arguments),
                ]),
            ])
        }
    }

    /// The last line of a stream, or with the text the whole answer.
    func last(_ result: GenerationResult, isWhole: Bool) throws -> JSON {
        var line =
            isWhole
            ? line(
                result.text, result.reasoning ?? "", calls: try Self.calls(result),
                logprobs: noted.withLock { $0 })
            : line("", "")
        line["done"] = true
        line["done_reason"] = result.finishReason == .length ? "length" : "stop"
        line["total_duration"] = OllamaTime.nanoseconds(Clock.seconds - start)
        line["load_duration"] = OllamaTime.nanoseconds(opens ? result.loadSeconds : 0)
        line["prompt_eval_count"] = .int(Int64(result.promptIDs.count))
        line["prompt_eval_duration"] = OllamaTime.nanoseconds(result.ttftSeconds ?? 0)
        line["eval_count"] = .int(Int64(result.ids.count))
        let rate = result.tokensPerSecond
        line["eval_duration"] = OllamaTime.nanoseconds(rate > 0 ? Double(result.ids.count - 1) / rate : 0)
        return .object(line)
    }

    /// The answer to a request for nothing but the model.
    func loaded(_ reason: String) -> JSON {
        var line = line("", "")
        line["done"] = true
        line["done_reason"] = .string(reason)
        return .object(line)
    }
}
