import HubCore
import InferenceKit

/// Reads the pieces of an answer into chunks and a result.
struct ChatAccumulator {
    private let seed: UInt64
    private let start = Clock.seconds
    private var first: Double?
    private var last = 0.0
    private var text = ""
    private var reasoning = ""
    private var refusal = ""
    private var calls = ToolCallAssembly()
    private var usage: TokenUsage?
    var servedBy: String?
    /// Why the answer ended, in the provider's word; nil before its end.
    private(set) var finishReason: String?

    init(seed: UInt64?, servedBy: String?) {
        self.seed = seed ?? 0
        self.servedBy = servedBy
    }

    /// Whether anything of an answer has come.
    var isEmpty: Bool { text.isEmpty && reasoning.isEmpty && refusal.isEmpty && calls.isEmpty }

    /// Takes a piece of a stream, or a whole answer; the chunks that it makes.
    mutating func take(_ json: JSON) -> [GenerationChunk] {
        takeUsage(json["usage"] ?? json["x_groq"]?["usage"])
        var chunks: [GenerationChunk] = []
        for choice in json["choices"]?.array ?? [] where choice["index"]?.int ?? 0 == 0 {
            if let turn = choice["delta"] ?? choice["message"] { chunks += takeTurn(turn, choice["logprobs"]) }
            if let reason = choice["finish_reason"]?.string, !reason.isEmpty { finishReason = reason }
        }
        return chunks
    }

    private mutating func takeTurn(_ turn: JSON, _ logprobs: JSON?) -> [GenerationChunk] {
        for call in turn["tool_calls"]?.array ?? [] { calls.take(call) }
        if let call = turn["function_call"] { calls.take(call) }
        refusal += turn["refusal"]?.string ?? ""
        let thought = Self.reasoning(turn)
        let content = Self.content(turn["content"])
        reasoning += thought
        text += content
        let tokens = logprobs?["content"]?.array ?? []
        guard !thought.isEmpty || !content.isEmpty || !tokens.isEmpty else { return [] }
        last = Clock.seconds
        first = first ?? last
        guard !tokens.isEmpty else { return [GenerationChunk(text: content, reasoning: thought, tokenCount: 0)] }
        return Self.chunks(tokens, content, thought)
    }

    /// One chunk for each token. Where the tokens' texts do not make up the text (half a character each), the first has
    /// it all.
    private static func chunks(_ tokens: [JSON], _ content: String, _ thought: String) -> [GenerationChunk] {
        let texts = tokens.map { $0["token"]?.string ?? "" }
        let isWhole = texts.joined() == content
        return tokens.enumerated().map { place, token in
            GenerationChunk(
                text: isWhole ? texts[place] : place == 0 ? content : "", reasoning: place == 0 ? thought : "",
                tokenCount: 1, logprob: token["logprob"]?.double,
                topLogprobs: (token["top_logprobs"]?.array ?? []).compactMap { other in
                    guard let text = other["token"]?.string, let value = other["logprob"]?.double else {
                        return nil
                    }
                    return TokenLogprob(tokenId: nil, text: text, logprob: value)
                })
        }
    }

    /// Of three names for the same thing the first that says something.
    private static func reasoning(_ turn: JSON) -> String {
        for key in ["reasoning", "reasoning_content", "reasoning_text"] {
            if let text = turn[key]?.string, !text.isEmpty { return text }
        }
        return ""
    }

    private static func content(_ json: JSON?) -> String {
        if let text = json?.string { return text }
        return (json?.array ?? []).compactMap { $0["type"]?.string == "text" ? $0["text"]?.string : nil }.joined()
    }

    /// Some give usage with every piece: the last counts.
    private mutating func takeUsage(_ json: JSON?) {
        guard let json, let prompt = json["prompt_tokens"]?.int else { return }
        usage = TokenUsage(
            promptTokens: Int(clamping: prompt),
            completionTokens: Int(clamping: json["completion_tokens"]?.int ?? 0),
            cachedTokens: json["prompt_tokens_details"]?["cached_tokens"]?.int.map { Int(clamping: $0) },
            reasoningTokens: json["completion_tokens_details"]?["reasoning_tokens"]?.int.map { Int(clamping: $0) })
    }

    // MARK: The end

    /// The last chunk of an answer that came to its end.
    ///
    /// - Throws: ``ErrorCode/requestRejected`` where the model only refuses.
    func lastChunk() throws(AIError) -> GenerationChunk {
        if text.isEmpty, !refusal.isEmpty {
            throw AIError(.requestRejected, "the model refuses: \(refusal.printable)", cause: partial)
        }
        return end(finishReason ?? (calls.isEmpty ? "stop" : "tool_calls"), try calls.finished())
    }

    /// The last chunk of an answer that the caller ended. A call that is not whole is left out.
    func cancelledChunk() -> GenerationChunk { end(FinishReason.cancelled.rawValue, []) }

    /// What has come so far, as the cause of an error.
    var partial: PartialAnswer { PartialAnswer(result(finishReason ?? "error", [])) }

    private func end(_ reason: String, _ calls: [GeneratedToolCall]) -> GenerationChunk {
        let result = result(reason, calls)
        return GenerationChunk(
            text: "", tokensPerSecond: result.tokensPerSecond, finishReason: result.finishReason, result: result)
    }

    private func result(_ reason: String, _ calls: [GeneratedToolCall]) -> GenerationResult {
        var rate = 0.0
        if let first, let usage, usage.completionTokens > 1, last > first {
            rate = Double(usage.completionTokens - 1) / (last - first)
        }
        return GenerationResult(
            text: text, finishReason: FinishReason(rawValue: reason), ttftSeconds: first.map { $0 - start },
            tokensPerSecond: rate, seed: seed, cachedTokens: usage?.cachedTokens ?? 0,
            reasoning: reasoning.isEmpty ? nil : reasoning, toolCalls: calls, usage: usage, servedBy: servedBy)
    }
}
