import HubCore
import HubServer
import InferenceKit

/// Chat completions as OpenAI's clients read them.
struct ChatAnswer: GenerationAnswer {
    private let request: ChatRequest
    private let id = AnswerParts.id("chatcmpl")
    private let created = Int64(Timestamp.now)
    /// Log probabilities of an answer in one piece, by choice.
    private let logprobs = Lock<[Int: [JSON]]>([:])
    /// The choices whose first event was sent: it has the role.
    private let begun = Lock<Set<Int>>([])

    init(_ request: ChatRequest) { self.request = request }

    private func calls(_ result: GenerationResult) -> [GeneratedToolCall] {
        request.isOneCall ? Array(result.toolCalls.prefix(1)) : result.toolCalls
    }

    // MARK: One document

    func note(_ model: OpenModel, _ number: Int, _ chunk: GenerationChunk) {
        guard request.logprobs, let entry = AnswerParts.logprob(chunk, model) else { return }
        logprobs.withLock { $0[number, default: []].append(entry) }
    }

    func document(_ results: [GenerationResult]) -> JSON {
        let choices = results.enumerated().map { number, result in
            JSON.object([
                "index": .int(Int64(number)), "message": .object(message(result)),
                "logprobs": request.logprobs
                    ? .object(["content": .array(logprobs.withLock { $0[number] ?? [] }), "refusal": .null])
                    : .null,
                "finish_reason": AnswerParts.finish(result.finishReason),
            ])
        }
        return .object([
            "id": .string(id), "object": "chat.completion", "created": .int(created),
            "model": .string(request.model),
            "choices": .array(choices), "usage": AnswerParts.usage(results),
        ])
    }

    private func message(_ result: GenerationResult) -> JSONObject {
        let calls = calls(result)
        return [
            "role": "assistant", "content": result.text.isEmpty && !calls.isEmpty ? .null : .string(result.text),
            "reasoning_content": result.reasoning.map { .string($0) },
            "tool_calls": calls.isEmpty ? nil : .array(calls.map { AnswerParts.call($0) }),
        ]
    }

    // MARK: Events

    func send(_ model: OpenModel, _ number: Int, _ chunk: GenerationChunk, to feed: Feed) {
        var delta = JSONObject()
        if begun.withLock({ $0.insert(number).inserted }) { (delta["role"], delta["content"]) = ("assistant", "") }
        if !chunk.text.isEmpty { delta["content"] = .string(chunk.text) }
        if !chunk.reasoning.isEmpty { delta["reasoning_content"] = .string(chunk.reasoning) }
        let logprob = request.logprobs ? AnswerParts.logprob(chunk, model) : nil
        if let result = chunk.result {
            // Python's client needs the index of every call.
            let calls = calls(result)
            if !calls.isEmpty {
                delta["tool_calls"] = .array(calls.enumerated().map { AnswerParts.call($1, index: $0) })
            }
        }
        if delta.count > 0 || logprob != nil { feed.send(event(number, delta, logprob, finish: .null)) }
        if let reason = chunk.finishReason {
            feed.send(event(number, [:], nil, finish: AnswerParts.finish(reason)))
        }
    }

    private func event(_ number: Int, _ delta: JSONObject, _ logprob: JSON?, finish: JSON) -> JSON {
        event(
            choices: [
                .object([
                    "index": .int(Int64(number)), "delta": .object(delta),
                    "logprobs": logprob.map { .object(["content": .array([$0]), "refusal": .null]) } ?? .null,
                    "finish_reason": finish,
                ])
            ])
    }

    private func event(choices: [JSON], usage: JSON? = nil) -> JSON {
        .object([
            "id": .string(id), "object": "chat.completion.chunk", "created": .int(created),
            "model": .string(request.model),
            "choices": .array(choices), "usage": request.includesUsage ? usage ?? .null : nil,
        ])
    }

    func end(_ results: [GenerationResult], _ feed: Feed) {
        if request.includesUsage { feed.send(event(choices: [], usage: AnswerParts.usage(results))) }
        feed.sendDone()
    }
}
