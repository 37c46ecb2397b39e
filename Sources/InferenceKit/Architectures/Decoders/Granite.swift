import HubCore
import ModelFormats

/// Granite (https://arxiv.org/abs/2405.04324): Llama with factors of embeddings, scores, what halves add, and logits; also
/// with experts. Layers of Granite 4 have Mamba 2 in the place of attention.
extension Architecture {
    static let granite = Architecture("Granite", ["granite"], gguf: ["granite"], classes: .decoder("Granite")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        try settings.multiply(&model)
        return model
    }

    static let graniteMoe = Architecture(
        "Granite MoE", ["granitemoe", "granitemoeshared"], gguf: ["granitemoe"],
        classes: .decoder("GraniteMoe") + .decoder("GraniteMoeShared"), names: .graniteMoe
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        try settings.multiply(&model)
        let isShared = settings.isGGUF || settings.configuration.modelType == "granitemoeshared"
        model.mix(try settings.graniteExperts(shared: isShared ? settings.sharedWidth(usual: 1024) : nil))
        return model
    }

    static let graniteHybrid = Architecture(
        "Granite 4", ["granitemoehybrid"], gguf: ["granitehybrid"], classes: .decoder("GraniteMoeHybrid"),
        names: .graniteHybrid, ggufTensors: .mamba2GGUF
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        try settings.multiply(&model)
        try settings.replaceAttention(of: &model)
        let shared = settings.sharedWidth(usual: 1024)
        if settings.isGGUF {
            // Bamba has the same name there. Its converter permutes rows of whole heads, of which half rotates.
            if model.layers.contains(where: { $0.attention?.rotatesInPart == true }) {
                settings.refuse("a Bamba whose heads rotate in part")
            }
        } else {
            switch settings.text("position_embedding_type") {
            case "rope": break
            case nil, "nope": model.eachAttention { $0.rotary = nil }
            case let named?: settings.refuse("position_embedding_type", named)
            }
            let width = try settings.need(shared, "shared_intermediate_size")
            model.eachFeedForward { $0.width = width }
        }
        if settings.configuration.experts != nil { model.mix(try settings.graniteExperts(shared: shared)) }
        return model
    }
}

extension ModelDescription.Attention {
    fileprivate var rotatesInPart: Bool { rotary.map { $0.rotated < headSize } ?? false }
}

extension Settings {
    /// Puts in the factors, which are 1 where settings do not say; in GGUF scores have the usual one.
    fileprivate func multiply(_ model: inout ModelDescription) throws(AIError) {
        func factor(_ key: String) throws(AIError) -> Float? {
            guard let told = number(key) else { return nil }
            guard Float(told).isFinite, told != 0 else { throw .malformed(path, "\(key) is \(told)") }
            return Float(told)
        }
        let (scores, added) = (try factor("attention_multiplier"), try factor("residual_multiplier") ?? 1)
        model.embedding.scale = try factor("embedding_multiplier") ?? 1
        model.head?.scale = 1 / (try factor(isGGUF ? "logit_scale" : "logits_scaling") ?? 1)
        let (isGGUF, rotates) = (isGGUF, flag("rope_finetuned") ?? true)
        for index in model.layers.indices { model.layers[index].added = added }
        model.eachAttention {
            $0.scale = scores ?? (isGGUF ? $0.scale : 1)
            // llama.cpp's files have permuted rows of queries and keys.
            $0.rotary?.isAdjacent = isGGUF
            if isGGUF, !rotates { $0.rotary = nil }
        }
    }

    /// The width of what every row goes through beside experts; nil for none.
    fileprivate func sharedWidth(usual: Int) -> Int? {
        if isGGUF { return count("shared_expert_intermediate_size") }
        return has("shared_intermediate_size") ? countIfAny("shared_intermediate_size") : usual
    }

    fileprivate mutating func graniteExperts(shared: Int?) throws(AIError) -> ModelDescription.Experts {
        var experts = try experts(width: configuration.intermediateSize, .init(scores: .softmaxOfChosen))
        experts.shared = shared.map { .init(width: $0) }
        return experts
    }
}

extension TensorNames {
    fileprivate static let graniteHybrid = graniteMoe.withStateSpaces("mamba.")

    fileprivate static let graniteMoe: TensorNames = {
        let (block, shared) = ("block_sparse_moe.", "shared_mlp.")
        var names = llama.with([
            .router: block + "router.layer", .gate: shared + "input_linear", .down: shared + "output_linear",
            .sharedGate: shared + "input_linear", .sharedDown: shared + "output_linear",
        ])
        names.packed = [[.gate, .up], [.sharedGate, .sharedUp]]
        names.experts = [
            ExpertNames(gate: block + "input_linear", up: block + "input_linear", down: block + "output_linear"),
            .mlx("block_sparse_moe"),
        ]
        return names
    }()
}
