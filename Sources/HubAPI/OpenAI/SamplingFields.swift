import HubCore
import InferenceKit

extension Fields {
    private typealias Bounds = GenerateConfig.Bounds

    /// The settings of a generation as OpenAI's clients and those of vLLM, llama.cpp and Ollama send them.
    ///
    /// - Parameters:
    ///   - limit: the fields that limit the tokens, the first that is there counts. Without one the context is the limit.
    ///   - window: how many of the last tokens penalties look at where nothing is said of it; nil for all.
    func sampling(limit: [String], window: Int? = nil) throws(APIFault) -> GenerateConfig {
        var config = GenerateConfig.default
        config.maxTokens = Bounds.maxTokens.upperBound
        if let key = limit.first(where: has), let most = try tokens(key) { config.maxTokens = most }
        config.temperature = try number("temperature", in: Bounds.temperature) ?? config.temperature
        if let share = try number("top_p", in: Bounds.share) { config.topP = share == 1 ? nil : share }
        config.topK = try int("top_k", in: -1...Bounds.topK.upperBound).map { $0 < 1 ? nil : $0 } ?? config.topK
        config.minP = try number("min_p", in: Bounds.share) ?? config.minP
        config.typicalP = try number("typical_p", in: Bounds.share) ?? config.typicalP
        config.presencePenalty = try number("presence_penalty", in: Bounds.penalty) ?? 0
        config.frequencyPenalty = try number("frequency_penalty", in: Bounds.penalty) ?? 0
        config.repetitionPenalty =
            try number("repetition_penalty", "repeat_penalty", in: Bounds.repetitionPenalty) ?? 1
        config.penaltyWindow =
            try int("repeat_last_n", in: -1...Bounds.penaltyWindow.upperBound).map { $0 < 0 ? nil : $0 } ?? window
        config.seed = try int("seed", from: .min).map { UInt64(bitPattern: Int64($0)) }
        config.stopSequences = (try strings("stop") ?? []).filter { !$0.isEmpty }
        guard config.stopSequences.count <= Bounds.stopSequences else {
            throw .invalid("'stop' can be at most \(Bounds.stopSequences) texts", param: "stop")
        }
        config.ignoresEndOfSequence = try bool("ignore_eos") ?? false
        for (id, bias) in try object("logit_bias")?.object.members ?? [] {
            guard let id = Int(id), let bias = bias.double, Bounds.bias.contains(bias) else {
                throw .invalid(
                    "'logit_bias' maps ids of tokens to numbers from -1000 to 1000", param: "logit_bias")
            }
            config.logitBias[id] = bias
        }
        do { try config.validate() } catch { throw APIFault(error) }
        return config
    }

    /// How many tokens a text may have: -1 and -2 are llama.cpp's and LM Studio's words for no limit, and 0 reads the prompt
    /// alone.
    private func tokens(_ key: String) throws(APIFault) -> Int? {
        guard let most = try int(key, from: -2) else { return nil }
        return most < 0 ? nil : min(most, Bounds.maxTokens.upperBound)
    }

    /// `keep_alive` or LM Studio's `ttl`; nil for the usual time.
    func keepAlive() throws(APIFault) -> KeepAlive? {
        for key in ["keep_alive", "ttl"] {
            if let value = self[key] { return try KeepAlive(value, field: key) }
        }
        return nil
    }

    /// The most texts of one request.
    static let mostTexts = 1024

    /// How many texts are asked for of each prompt.
    func choices(prompts: Int = 1) throws(APIFault) -> Int {
        guard prompts <= Self.mostTexts else {
            throw .invalid("'prompt' can be at most \(Self.mostTexts) texts", param: "prompt")
        }
        let count = try int("n", in: 1...128) ?? 1
        guard count * prompts <= Self.mostTexts else {
            throw .invalid("'n' times the prompts can be at most \(Self.mostTexts) texts", param: "n")
        }
        return count
    }
}
