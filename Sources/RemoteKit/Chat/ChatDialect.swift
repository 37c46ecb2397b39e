import HubCore
import InferenceKit

/// What a server takes of a ``GenerateConfig``, by field. What it would ignore is refused before anything is sent.
struct ChatDialect: Sendable {
    /// For messages: `Hugging Face's providers`.
    var name: String
    /// The name of the limit of tokens.
    var maxTokens = "max_tokens"
    /// The fields beyond OpenAI's, by their names there.
    var topK: String?
    var minP: String?
    var typicalP: String?
    var repetitionPenalty: String?
    var penaltyWindow: String?
    var ignoreEOS: String?
    var takesLogitBias = true
    /// The most alternatives with log probabilities.
    var mostLogprobs = 20
    /// The most stop sequences.
    var mostStops = 4
    var takesReasoningEffort = true

    /// `topLogprobs` and stops as the Hub documents them; `logit_bias` it calls unused.
    static let hub = ChatDialect(name: "the Hub's providers", takesLogitBias: false, mostLogprobs: 5)
    static let openAI = ChatDialect(name: "OpenAI's protocol")
    /// OpenAI's own server refuses `max_tokens` for its reasoning models.
    static let openAIItself = ChatDialect(name: "OpenAI", maxTokens: "max_completion_tokens")
    static let vLLM = ChatDialect(
        name: "vLLM", topK: "top_k", minP: "min_p", repetitionPenalty: "repetition_penalty",
        ignoreEOS: "ignore_eos",
        mostStops: .max)
    static let llamaCpp = ChatDialect(
        name: "llama.cpp", topK: "top_k", minP: "min_p", typicalP: "typical_p", repetitionPenalty: "repeat_penalty",
        penaltyWindow: "repeat_last_n", ignoreEOS: "ignore_eos", mostStops: .max)

    /// The configuration as members of a request.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a field out of range, or one that the server does not take.
    func members(_ config: GenerateConfig) throws(AIError) -> [(key: String, value: JSON)] {
        try config.validate()
        var out: [(key: String, value: JSON)] = [(maxTokens, .int(Int64(config.maxTokens)))]
        func add(_ key: String?, _ what: String, _ value: JSON?) throws(AIError) {
            guard let value else { return }
            guard let key else { throw refusal(what) }
            out.append((key, value))
        }
        func check(_ holds: Bool, _ what: String) throws(AIError) {
            if !holds { throw AIError(.invalidInput, "\(name): \(what)") }
        }
        try check(config.maxTokens >= 1, "max tokens must be at least 1")
        try check(config.temperature <= 2, "temperature must be from 0 to 2, not \(config.temperature)")
        try add("temperature", "", .double(config.temperature))
        try add("top_p", "", config.topP.map { .double($0) })
        try add(topK, "top-k", config.topK.map { .int(Int64($0)) })
        try add(minP, "min-p", config.minP.map { .double($0) })
        try add(typicalP, "typical-p", config.typicalP.map { .double($0) })
        let repetition = config.repetitionPenalty == 1 ? nil : JSON.double(config.repetitionPenalty)
        try add(repetitionPenalty, "a repetition penalty", repetition)
        try add(penaltyWindow, "a window of penalties", config.penaltyWindow.map { .int(Int64($0)) })
        for (key, value) in [
            ("frequency_penalty", config.frequencyPenalty), ("presence_penalty", config.presencePenalty),
        ] where value != 0 {
            try check(abs(value) <= 2, "\(key) must be from -2 to 2, not \(value)")
            out.append((key, .double(value)))
        }
        try add(takesLogitBias ? "logit_bias" : nil, "a logit bias", bias(config))
        try check(config.stopSequences.count <= mostStops, "takes at most \(mostStops) stop sequences")
        try add("stop", "", config.stopSequences.isEmpty ? nil : .array(config.stopSequences.map { .string($0) }))
        try add("seed", "", config.seed.map { Int64(exactly: $0).map { .int($0) } ?? .longNumber(String($0)) })
        try add(ignoreEOS, "generating past the end token", config.ignoresEndOfSequence ? true : nil)
        if let count = config.topLogprobs {
            try check(count <= mostLogprobs, "gives at most \(mostLogprobs) alternatives per token, not \(count)")
            out += [("logprobs", true), ("top_logprobs", .int(Int64(count)))]
        }
        if config.constraint != nil {
            throw refusal("a grammar of the text; ask for JSON of a schema as the response format")
        }
        if config.translation != nil { throw refusal("the languages of a translation; ask for it in words") }
        return out
    }

    private func bias(_ config: GenerateConfig) -> JSON? {
        guard !config.logitBias.isEmpty else { return nil }
        return .object(
            JSONObject(config.logitBias.sorted { $0.key < $1.key }.map { (String($0.key), .double($0.value)) }))
    }

    func refusal(_ what: String) -> AIError {
        AIError(
            .invalidInput, "\(name) cannot take \(what)", advice: "leave it out, or run the model on this machine")
    }
}
