import HubCore
import ModelFormats

/// ModernBERT (https://arxiv.org/abs/2412.13663): norms before each half, rotary positions, gated feed-forward blocks, and
/// in most layers a window to both sides.
extension Architecture {
    static let modernBert = Architecture(
        "ModernBERT", ["modernbert"], gguf: ["modern-bert"],
        classes: [
            .base("ModernBertModel"), .modernMasked, .modernLabels, .modernTokenLabels,
        ], names: .modernBert, ggufTensors: .modernGGUF
    ) { settings throws(AIError) in
        let global = settings.positive("global_rope_theta") ?? 160_000
        var model = try settings.rotaryEncoder(base: global, types: nil, epsilon: 1e-5)
        let norm = ModelDescription.Norm(
            kind: .layer(hasBias: settings.flag("norm_bias") ?? false), epsilon: model.layers[0].norm.epsilon)
        (model.embedding.norm, model.embedding.types, model.finalNorm) = (norm, nil, norm)
        let headSize = model.layers[0].attention?.headSize ?? 0
        let local = settings.positive("local_rope_theta") ?? settings.positive("rope_local_base_freq") ?? 10_000
        let full = try settings.rotary(headSize: headSize, kind: "full_attention", base: global)
        var sliding = try settings.rotary(headSize: headSize, kind: "sliding_attention", base: local)
        if settings.isGGUF { sliding.base = local }
        let (hasAttentionBias, hasBias) = (
            settings.flag("attention_bias") ?? false, settings.flag("mlp_bias") ?? false
        )
        let activation = settings.activation(settings.configuration.activation, default: .gelu)
        // As many positions to each side as half of this, and the position itself.
        let window = (settings.positions("local_attention") ?? settings.positions("sliding_window") ?? 128) / 2 + 1
        let kinds = settings.modernKinds(model.layers.count)
        for index in model.layers.indices {
            let slides = kinds[index] == "sliding_attention"
            (model.layers[index].norms, model.layers[index].norm) = (.before, norm)
            model.layers[index].hasAttentionNorm = index > 0
            model.layers[index].attention?.window = slides ? window : nil
            model.layers[index].attention?.rotary = slides ? sliding : full
            model.layers[index].attention?.hasInputBias = hasAttentionBias
            model.layers[index].attention?.hasOutputBias = hasAttentionBias
            model.layers[index].feedForward?.isGated = true
            model.layers[index].feedForward?.hasBias = hasBias
            model.layers[index].feedForward?.activation = activation
        }
        return model
    }
}

extension Settings {
    /// The kind of each layer, by the list, or else every n-th from the first on sees everything.
    fileprivate func modernKinds(_ count: Int) -> [String] {
        let listed = configuration.layerKinds
        guard listed.count != count else { return listed }
        let period = self.count("global_attn_every_n_layers") ?? 3
        return (0..<count).map { $0 % period == 0 ? "full_attention" : "sliding_attention" }
    }

    /// The layer that every head of ModernBERT begins with.
    fileprivate mutating func modernDense(_ d: ModelDescription) -> ModelDescription.Head.Dense {
        .init(
            width: d.width, hasBias: flag("classifier_bias") ?? false,
            activation: activation(text("classifier_activation"), default: .gelu), norm: d.finalNorm)
    }
}

extension ModelClass {
    private static let dense: [TensorRole: String] = [.headDense: "head.dense", .headNorm: "head.norm"]

    fileprivate static let modernMasked = ModelClass(
        "ModernBertForMaskedLM", .fillMask, dense.merging([.head: "decoder"]) { $1 }
    ) { settings, d throws(AIError) in
        Head(
            dense: settings.modernDense(d), isTied: settings.isTied(default: true),
            hasBias: settings.flag("decoder_bias") ?? true)
    }

    fileprivate static let modernLabels = ModelClass(
        "ModernBertForSequenceClassification", .classification, dense.merging([.head: "classifier"]) { $1 }
    ) { settings, d throws(AIError) in
        Head(
            rows: settings.text("classifier_pooling") == "mean" ? .mean : .first, dense: settings.modernDense(d),
            hasBias: true, outputs: .labels(try settings.labels()))
    }

    fileprivate static let modernTokenLabels = ModelClass(
        "ModernBertForTokenClassification", .tokenClassification, dense.merging([.head: "classifier"]) { $1 }
    ) { settings, d throws(AIError) in
        Head(dense: settings.modernDense(d), hasBias: true, outputs: .labels(try settings.labels()))
    }
}

extension TensorNames {
    private static let packs: [[TensorRole]] = [[.query, .key, .value], [.gate, .up]]

    fileprivate static let modernBert = TensorNames(
        prefix: "model.", layer: "layers.",
        stems: [
            .embedding: "embeddings.tok_embeddings", .embeddingNorm: "embeddings.norm", .finalNorm: "final_norm",
            .attentionNorm: "attn_norm", .query: "attn.Wqkv", .attentionOutput: "attn.Wo",
            .feedForwardNorm: "mlp_norm", .gate: "mlp.Wi", .down: "mlp.Wo",
        ],
        packed: packs)

    fileprivate static let modernGGUF: TensorNames = {
        var names = gguf.with([.query: "attn_qkv", .gate: "ffn_up"])
        names.packed = packs
        return names
    }()
}
