import HubCore
import ModelFormats

/// Gemma 1 (https://arxiv.org/abs/2403.08295), 2 (https://arxiv.org/abs/2408.00118) and 3
/// (https://arxiv.org/abs/2503.19786): norms with 1 + weight, a scaled embedding that is also the head, GELU gates.
extension Architecture {
    static let gemma = Architecture("Gemma 1", ["gemma"], gguf: ["gemma"], classes: .decoder("Gemma")) {
        settings throws(AIError) in try settings.gemma()
    }

    static let gemma2 = Architecture(
        "Gemma 2", ["gemma2"], gguf: ["gemma2"], classes: .decoder("Gemma2"), names: .gemmaAround
    ) { settings throws(AIError) in try settings.gemma2() }

    static let gemma3 = Architecture(
        "Gemma 3", ["gemma3_text", "gemma3"], gguf: ["gemma3"],
        classes: [
            .generator("Gemma3ForCausalLM"), .generator("Gemma3ForConditionalGeneration"), .base("Gemma3TextModel"),
        ], names: .gemmaAround
    ) { settings throws(AIError) in
        let seesBothSides = settings.flag("use_bidirectional_attention") == true
        if seesBothSides, settings.configuration.architectures.first?.hasPrefix("Gemma3For") == true {
            settings.refuse("use_bidirectional_attention in a model that generates")
        }
        return try settings.gemma3(seesBothSides: seesBothSides)
    }

    /// EmbeddingGemma (https://arxiv.org/abs/2509.20354) as a GGUF file; elsewhere it is a Gemma 3 that sees both sides.
    static let embeddingGemma = Architecture(
        "EmbeddingGemma", [], gguf: ["gemma-embedding"], classes: [.base("Gemma3TextModel")]
    ) { settings throws(AIError) in try settings.gemma3(seesBothSides: true) }
}

extension TensorNames {
    /// Norms before and after each half.
    static let gemmaAround = llama.with([
        .attentionPostNorm: "post_attention_layernorm", .feedForwardNorm: "pre_feedforward_layernorm",
        .feedForwardPostNorm: "post_feedforward_layernorm",
    ])
}

extension Settings {
    mutating func gemma2() throws(AIError) -> ModelDescription {
        var model = try gemma()
        let kinds = layerKinds(model.layers.count, period: 2)
        let window = window(orNone: 4096)
        let scale = gemmaScale(model, wide: 46)
        let cap = number("attn_logit_softcapping", orNone: 50) ?? 0
        for index in model.layers.indices {
            model.layers[index].norms = .around
            model.layers[index].attention?.cap = Float(cap)
            model.layers[index].attention?.scale = scale
            if kinds[index] == "sliding_attention" { model.layers[index].attention?.window = window }
        }
        model.head?.cap = Float(number("final_logit_softcapping", orNone: 30) ?? 0)
        return model
    }

    fileprivate mutating func gemma3(seesBothSides: Bool) throws(AIError) -> ModelDescription {
        var model = try gemma()
        let kinds = layerKinds(model.layers.count, usual: 6)
        let told = window(orNone: 4096)
        // A window of this width around the position.
        let window = seesBothSides ? told.map { $0 / 2 + 1 } : told
        model.isCausal = !seesBothSides
        let headSize = model.layers.first?.attention?.headSize ?? 0
        let (full, sliding) = try gemmaRotaries(headSize: headSize)
        let (norm, scale) = (model.finalNorm, gemmaScale(model, wide: 62))
        for index in model.layers.indices {
            let slides = kinds[index] == "sliding_attention"
            model.layers[index].norms = .around
            model.layers[index].attention?.headNorm = norm
            model.layers[index].attention?.scale = scale
            model.layers[index].attention?.window = slides ? window : nil
            model.layers[index].attention?.rotary = slides ? sliding : full
            model.layers[index].attention?.cap = Float(number("attn_logit_softcapping") ?? 0)
        }
        model.head?.cap = Float(number("final_logit_softcapping") ?? 0)
        return model
    }

    /// The rotary embeddings of layers that see everything, and of those with a window.
    mutating func gemmaRotaries(headSize: Int) throws(AIError) -> (
        full: ModelDescription.Rotary, sliding: ModelDescription.Rotary
    ) {
        let full = try rotary(headSize: headSize, kind: "full_attention", base: 1_000_000)
        var sliding = try rotary(headSize: headSize, kind: "sliding_attention")
        if scope("rope_parameters")?.has("sliding_attention") != true {
            sliding.base = positive("rope_local_base_freq") ?? 10_000
            sliding.scaling = .none
        }
        return (full, sliding)
    }

    /// - Parameter normOffset: what norms add to their weights; llama.cpp's converter has added it.
    mutating func gemma(normOffset: Float = 1, isUneven: Bool = false) throws(AIError) -> ModelDescription {
        var model = try decoder(normOffset: isGGUF ? 0 : normOffset, isTied: true, isUneven: isUneven)
        // hidden_act of the first files is wrong: all of them were trained with the tanh form.
        let activation = activation(text("hidden_activation"), default: .geluTanh)
        for index in model.layers.indices { model.layers[index].feedForward?.activation = activation }
        model.embedding.scale = Float(model.width).squareRoot()
        return model
    }

    /// GGUF does not have the scale: in the largest model of a series it is of the width of a head's share.
    ///
    /// - Parameter wide: the number of layers of the largest model.
    fileprivate func gemmaScale(_ model: ModelDescription, wide: Int) -> Float {
        guard let attention = model.layers.first?.attention else { return 1 }
        let share = model.layers.count == wide ? model.width / attention.heads : attention.headSize
        return 1 / Float(positive("query_pre_attn_scalar") ?? Double(isGGUF ? share : 256)).squareRoot()
    }
}
