import HubCore
import ModelFormats

/// Apertus (https://arxiv.org/abs/2509.14233): norms of queries and keys, and plain feed-forward blocks whose activation has
/// numbers that were learned.
extension Architecture {
    static let apertus = Architecture(
        "Apertus", ["apertus"], gguf: [], classes: .decoder("Apertus"), names: .apertus
    ) {
        settings throws(AIError) in
        let named = settings.configuration.activation ?? "xielu"
        let isLearned = named == "xielu"
        var model = try settings.decoder(activation: isLearned ? "relu2" : named)
        var rotary = try settings.rotary(headSize: model.layers[0].attention?.headSize ?? 0, base: 12_000_000)
        if settings.object("rope_parameters") == nil, settings.object("rope_scaling") == nil {
            rotary.scaling = .llama3(
                factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192)
        }
        let norm = model.finalNorm
        model.eachAttention { ($0.headNorm, $0.rotary) = (norm, rotary) }
        model.eachFeedForward { ($0.isGated, $0.hasXIELU, $0.hasBias) = (false, isLearned, false) }
        return model
    }
}

extension TensorNames {
    fileprivate static let apertus: TensorNames = {
        let activation = "mlp.act_fn."
        var names = llama.with([
            .attentionNorm: "attention_layernorm", .feedForwardNorm: "feedforward_layernorm",
            .positiveSlope: activation + "alpha_p", .negativeSlope: activation + "alpha_n",
            .commonSlope: activation + "beta", .largestExponent: activation + "eps",
        ])
        names.plain.formUnion([.positiveSlope, .negativeSlope, .commonSlope, .largestExponent])
        return names
    }()
}
