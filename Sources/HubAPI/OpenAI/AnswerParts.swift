import HubCore
import HubTokenizers
import InferenceKit

/// What the answers of OpenAI's protocol have in common.
enum AnswerParts {
    /// An id of an answer: `chatcmpl-` and digits.
    static func id(_ prefix: String) -> String { "\(prefix)-\(FileSystem.randomHex(12))" }

    static func finish(_ reason: FinishReason) -> JSON {
        switch reason {
        case .stopSequence: "stop"
        default: .string(reason.rawValue)
        }
    }

    /// The tokens of a request: the prompt counts once, however many texts it has.
    static func usage(_ results: [GenerationResult], prompts: Int = 1) -> JSON {
        let each = max(1, results.count / max(1, prompts))
        let firsts = stride(from: 0, to: results.count, by: each).map { results[$0] }
        let prompt = firsts.reduce(0) { $0 + $1.promptIDs.count }
        let completion = results.reduce(0) { $0 + $1.ids.count }
        return .object([
            "prompt_tokens": .int(Int64(prompt)), "completion_tokens": .int(Int64(completion)),
            "total_tokens": .int(Int64(prompt + completion)),
            "prompt_tokens_details": .object([
                "cached_tokens": .int(Int64(firsts.reduce(0) { $0 + $1.cachedTokens }))
            ]),
        ])
    }

    static func call(_ call: GeneratedToolCall, index: Int? = nil) -> JSON {
        .object([
            "index": index.map { .int(Int64($0)) }, "id": call.id.map { .string($0) }, "type": "function",
            "function": .object(["name": .string(call.name), "arguments": .string(call.arguments)]),
        ])
    }

    /// A token with its log probability, in the form of chats.
    static func logprob(_ chunk: GenerationChunk, _ model: OpenModel) -> JSON? {
        guard let id = chunk.tokenId, let logprob = chunk.logprob, let tokenizer = model.texts?.tokenizer,
            !tokenizer.isSpecial(id)
        else {
            return nil
        }
        var entry = token(id, tokenizer.decode([id]), logprob, model)
        entry["top_logprobs"] = .array(
            chunk.topLogprobs.map { .object(token($0.tokenId ?? 0, $0.text, $0.logprob, model)) })
        return .object(entry)
    }

    private static func token(_ id: Int, _ text: String, _ logprob: Double, _ model: OpenModel) -> JSONObject {
        [
            "token": .string(text), "logprob": .double(logprob),
            "bytes": .array(model.bytes(of: id).map { .int(Int64($0)) }),
        ]
    }
}
