import HubCore
import InferenceKit

extension Fields {
    /// The settings of a generation as OpenAI's clients and those of vLLM and llama.cpp send them.
    ///
    /// - Parameter limit: the fields that limit the tokens, the first that is there counts. Without one the context is the
    ///   limit.
    func sampling(limit: [String]) throws(APIFault) -> GenerateConfig {
        var config = GenerateConfig.default
        config.maxTokens = 1 << 30
        for key in limit.reversed() { config.maxTokens = try int(key, from: 1) ?? config.maxTokens }
        config.temperature = try double("temperature") ?? config.temperature
        if let share = try double("top_p") { config.topP = share >= 1 ? nil : share }
        config.topK = try int("top_k", from: -1).map { $0 < 1 ? nil : $0 } ?? config.topK
        config.minP = try double("min_p") ?? config.minP
        config.typicalP = try double("typical_p") ?? config.typicalP
        config.presencePenalty = try double("presence_penalty") ?? 0
        config.frequencyPenalty = try double("frequency_penalty") ?? 0
        config.repetitionPenalty = try double("repetition_penalty", "repeat_penalty") ?? 1
        config.seed = try int("seed", from: .min).map { UInt64(bitPattern: Int64($0)) }
        config.stopSequences = (try strings("stop") ?? []).filter { !$0.isEmpty }
        guard config.stopSequences.count <= 64 else {
            throw .invalid("'stop' can be at most 64 texts", param: "stop")
        }
        config.ignoresEndOfSequence = try bool("ignore_eos") ?? false
        for (id, bias) in try object("logit_bias")?.object.members ?? [] {
            guard let id = Int(id), let bias = bias.double else {
                throw .invalid("'logit_bias' maps ids of tokens to numbers", param: "logit_bias")
            }
            config.logitBias[id] = bias
        }
        do { try config.validate() } catch { throw APIFault(error) }
        return config
    }

    /// `keep_alive` or LM Studio's `ttl`; nil for the usual time.
    func keepAlive() throws(APIFault) -> KeepAlive? {
        for key in ["keep_alive", "ttl"] {
            if let value = self[key] { return try KeepAlive(value, field: key) }
        }
        return nil
    }

    /// How many texts are asked for.
    func choices() throws(APIFault) -> Int { try int("n", from: 1, to: 128) ?? 1 }
}
