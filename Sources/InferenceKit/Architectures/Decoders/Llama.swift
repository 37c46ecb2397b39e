import HubCore
import Libc
import ModelFormats

/// Llama 1 to 3 (https://arxiv.org/abs/2407.21783) and Mistral (https://arxiv.org/abs/2310.06825).
extension Architecture {
    static let llama = Architecture(
        "Llama", ["llama"], gguf: ["llama"],
        classes: .decoder("Llama") + [.generator("MistralForCausalLM"), .generator("LLaMAForCausalLM")]
    ) {
        settings throws(AIError) in
        var model = try settings.decoder()
        let hasFactors = settings.stores("rope_freqs.weight") ?? false
        model.eachAttention {
            // llama.cpp's files have permuted rows of queries and keys.
            $0.rotary?.isAdjacent = settings.isGGUF
            $0.rotary?.hasFactors = settings.isGGUF && hasFactors
        }
        if settings.configuration.experts != nil {
            // In GGUF, Mixtral is a Llama.
            if settings.isGGUF {
                try settings.mixLikeMixtral(&model)
            } else {
                settings.refuse("a mixture of experts")
            }
        }
        return model
    }

    static let mistral = Architecture("Mistral", ["mistral"], gguf: [], classes: .decoder("Mistral")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        let window = settings.window(orNone: 4096)
        model.eachAttention { $0.window = window }
        return model
    }

    /// With windows in some layers.
    static let ministral = Architecture("Ministral", ["ministral"], gguf: [], classes: .decoder("Ministral")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        let (window, kinds) = (settings.window(orNone: 4096), settings.configuration.layerKinds)
        for index in model.layers.indices {
            let slides = kinds.count == model.layers.count ? kinds[index] == "sliding_attention" : true
            model.layers[index].attention?.window = slides ? window : nil
        }
        return model
    }

    /// With queries that grow with the position.
    static let ministral3 = Architecture(
        "Ministral 3", ["ministral3"], gguf: ["mistral3"], classes: .decoder("Ministral3")
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let scope = settings.rope
        let window = settings.isGGUF ? nil : settings.window()
        let told =
            settings.isGGUF ? settings.number("attn_temperature_scale") : scope.number("llama_4_scaling_beta")
        let first = scope.positions("original_max_position_embeddings")
        var temperature: ModelDescription.Temperature?
        if let told, told != 0 {
            guard let first else {
                throw .malformed(
                    settings.path, "llama_4_scaling_beta needs a positive original_max_position_embeddings")
            }
            temperature = .init(positions: first, factor: Float(told))
        }
        let multiplier = settings.number("yarn_log_multiplier")
        model.eachAttention {
            ($0.window, $0.temperature) = (window, temperature)
            // llama.cpp's files have permuted rows of queries and keys.
            $0.rotary?.isAdjacent = settings.isGGUF
            if let multiplier { $0.rotary?.scaling.weigh(multiplier) }
        }
        return model
    }
}

extension ModelDescription.Rotary.Scaling {
    /// What llama.cpp makes of the attention factor where a file has a logarithm's multiplier.
    fileprivate mutating func weigh(_ multiplier: Double) {
        guard case .yarn(let factor, let original, let fast, let slow, _, let isTruncated) = self, factor > 1 else {
            return
        }
        let attention = (1 + 0.1 * log(factor)) / (1 + 0.1 * multiplier * log(factor))
        self = .yarn(
            factor: factor, originalPositions: original, fast: fast, slow: slow, attention: attention,
            isTruncated: isTruncated)
    }
}
