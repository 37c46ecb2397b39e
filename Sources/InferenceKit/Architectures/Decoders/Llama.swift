import HubCore
import ModelFormats

/// Llama 1 to 3 (https://arxiv.org/abs/2407.21783) and Mistral (https://arxiv.org/abs/2310.06825).
extension Architecture {
    static let llama = Architecture(
        "Llama", ["llama"], gguf: ["llama"], classes: .decoder("Llama") + [.generator("MistralForCausalLM")]
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
                settings.obstacles.append("a mixture of experts")
            }
        }
        return model
    }

    static let mistral = Architecture("Mistral", ["mistral"], gguf: [], classes: .decoder("Mistral")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        let window = settings.count("sliding_window")
        model.eachAttention { $0.window = window }
        return model
    }
}
