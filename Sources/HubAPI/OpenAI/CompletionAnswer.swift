import HubCore
import HubTokenizers
import InferenceKit

/// Completions as OpenAI's clients read them.
struct CompletionAnswer: GenerationAnswer {
    private let request: CompletionRequest
    private let id = AnswerParts.id("cmpl")
    private let created = Int64(Timestamp.now)
    private let logprobs = Lock<[Int: [(chunk: GenerationChunk, text: String)]]>([:])
    private let begun = Lock<Set<Int>>([])

    init(_ request: CompletionRequest) { self.request = request }

    private func prompt(_ number: Int) -> String { request.echoes ? request.prompts[number / request.choices] : "" }

    func note(_ model: OpenModel, _ number: Int, _ chunk: GenerationChunk) {
        guard let token = Self.token(model, chunk) else { return }
        logprobs.withLock { $0[number, default: []].append(token) }
    }

    private static func token(_ model: OpenModel, _ chunk: GenerationChunk) -> (GenerationChunk, String)? {
        guard let id = chunk.tokenId, chunk.logprob != nil, let tokenizer = model.texts?.tokenizer,
            !tokenizer.isSpecial(id)
        else {
            return nil
        }
        return (chunk, tokenizer.decode([id]))
    }

    /// The older form of log probabilities.
    private static func lists(_ tokens: [(chunk: GenerationChunk, text: String)]) -> JSON {
        var offsets: [JSON] = []
        var offset = 0
        for token in tokens {
            offsets.append(.int(Int64(offset)))
            offset += token.text.count
        }
        return .object([
            "tokens": .array(tokens.map { .string($0.text) }),
            "token_logprobs": .array(tokens.map { .double($0.chunk.logprob ?? 0) }),
            "top_logprobs": .array(
                tokens.map { token in
                    .object(
                        JSONObject(token.chunk.topLogprobs.map { (key: $0.text, value: JSON.double($0.logprob)) }))
                }),
            "text_offset": .array(offsets),
        ])
    }

    func document(_ results: [GenerationResult]) -> JSON {
        let choices = results.enumerated().map { number, result in
            choice(
                number, prompt(number) + result.text,
                request.logprobs ? logprobs.withLock { $0[number] ?? [] } : nil,
                AnswerParts.finish(result.finishReason))
        }
        return document(choices, AnswerParts.usage(results, prompts: request.prompts.count))
    }

    func send(_ model: OpenModel, _ number: Int, _ chunk: GenerationChunk, to feed: Feed) {
        let isFirst = begun.withLock { $0.insert(number).inserted }
        let text = (isFirst ? prompt(number) : "") + chunk.text
        let token = request.logprobs ? Self.token(model, chunk) : nil
        guard !text.isEmpty || token != nil || chunk.isComplete else { return }
        let finish = chunk.finishReason.map(AnswerParts.finish) ?? .null
        let usage: JSON? = request.includesUsage ? .null : nil
        feed.send(document([choice(number, text, token.map { [$0] }, finish)], usage))
    }

    func end(_ results: [GenerationResult], _ feed: Feed) {
        if request.includesUsage {
            feed.send(document([], AnswerParts.usage(results, prompts: request.prompts.count)))
        }
        feed.sendDone()
    }

    private func choice(
        _ number: Int, _ text: String, _ tokens: [(chunk: GenerationChunk, text: String)]?, _ finish: JSON
    ) -> JSON {
        .object([
            "index": .int(Int64(number)), "text": .string(text), "logprobs": tokens.map(Self.lists) ?? .null,
            "finish_reason": finish,
        ])
    }

    private func document(_ choices: [JSON], _ usage: JSON?) -> JSON {
        .object([
            "id": .string(id), "object": "text_completion", "created": .int(created),
            "model": .string(request.model), "choices": .array(choices), "usage": usage,
        ])
    }
}
