import HubCore
import ModelFormats

/// Models for translations with layers like BART's, and positions as sines and cosines: Marian
/// (https://aclanthology.org/P18-4020/) and M2M-100 with NLLB (https://arxiv.org/abs/2010.11125,
/// https://arxiv.org/abs/2207.04672). Pegasus (https://arxiv.org/abs/1912.08777), which writes summaries, is made like them.
extension Architecture {
    static let marian = Architecture(
        "Marian", ["marian"], gguf: [],
        classes: [
            ModelClass("MarianMTModel", .textGeneration) { settings, d throws(AIError) in
                .init(isTied: true, hasBias: settings.stores("final_logits_bias") ?? true)
            }
        ], names: .translator
    ) { settings throws(AIError) in
        for (key, usual) in [
            ("normalize_before", false), ("add_final_layer_norm", false), ("normalize_embedding", false),
            ("share_encoder_decoder_embeddings", true), ("static_position_embeddings", true),
        ] where settings.flag(key) ?? usual != usual { settings.refuse(key, "\(!usual)") }
        var d = try settings.likeBart(norms: .after) { $0.embedding.sinusoids = .init(periods: .byWidth) }
        d.languages = .mark
        return d
    }

    static let m2m100 = Architecture(
        "M2M-100", ["m2m_100"], gguf: [],
        classes: [
            ModelClass("M2M100ForConditionalGeneration", .textGeneration) { settings, d throws(AIError) in
                .init(isTied: true)
            }
        ], names: .translator
    ) { settings throws(AIError) in
        var d = try settings.likeBart(norms: .before) {
            $0.embedding.sinusoids = .init(periods: .toTheLast)
            $0.embedding.positionOffset = 2
        }
        d.languages = .tokens
        return d
    }

    static let pegasus = Architecture(
        "Pegasus", ["pegasus"], gguf: [],
        classes: [
            ModelClass("PegasusForConditionalGeneration", .textGeneration) { settings, d throws(AIError) in
                .init(isTied: true, hasBias: settings.stores("final_logits_bias") ?? true)
            }
        ], names: .translator
    ) { settings throws(AIError) in
        for (key, usual) in [
            ("normalize_before", true), ("add_final_layer_norm", true), ("normalize_embedding", false),
            ("static_position_embeddings", true),
        ] where settings.flag(key) ?? usual != usual { settings.refuse(key, "\(!usual)") }
        return try settings.likeBart(norms: .before) { $0.embedding.sinusoids = .init(periods: .byWidth) }
    }
}

extension TensorNames {
    /// Positions may be stored, though they are computed.
    fileprivate static let translator: TensorNames = {
        var names = bart
        names.ignored += ["embed_positions.weight", "embed_positions.weights"]
        return names
    }()
}
