import HubCore
import ModelFormats

/// GTE (https://arxiv.org/abs/2407.19669): BERT with rotary positions and gated feed-forward blocks. Published with code of
/// its own as `new`, in transformers as `gte`.
extension Architecture {
    static let gte = Architecture(
        "GTE", ["new", "gte"], gguf: [],
        classes: ModelClass.gte("New") + ModelClass.gte("Gte"),
        names: .new, otherNames: [.newUnpacked, .rotaryEncoder(prefix: "gte.")]
    ) { settings throws(AIError) in
        let isNew = settings.configuration.modelType == "new"
        var model = try settings.rotaryEncoder(base: isNew ? 10_000 : 160_000, types: 1)
        if isNew, let kind = settings.text("position_embedding_type"), kind != "rope" {
            settings.refuse("position_embedding_type", kind)
        }
        if let kind = settings.text("layer_norm_type"), kind != "layer_norm" {
            settings.refuse("layer_norm_type", kind)
        }
        settings.refuse(["logn_attention_scale"]) { $0.flag($1) == true }
        let activation = settings.activation(settings.configuration.activation, default: .gelu)
        model.eachFeedForward {
            ($0.isGated, $0.activation, $0.hasBias, $0.hasOutputBias) = (true, activation, false, true)
        }
        return model
    }
}

extension ModelClass {
    /// The classes of a name.
    fileprivate static func gte(_ name: String) -> [ModelClass] {
        // The authors' code and transformers have each called the norm both.
        let masked = ["norm", "layer_norm"].map { norm in
            ModelClass.masked(
                "\(name)ForMaskedLM", dense: "lm_head.dense", norm: "lm_head.\(norm)", head: "lm_head.decoder")
        }
        return [.base("\(name)Model")] + masked + [
            .labels("\(name)ForSequenceClassification", pooler: "pooler.dense"),
            .tokenLabels("\(name)ForTokenClassification"),
        ]
    }
}

extension TensorNames {
    private static let stems: [TensorRole: String] = [
        .embedding: "embeddings.word_embeddings", .tokenTypes: "embeddings.token_type_embeddings",
        .embeddingNorm: "embeddings.LayerNorm", .attentionOutput: "attention.o_proj", .attentionPostNorm: "attn_ln",
        .up: "mlp.up_gate_proj", .down: "mlp.down_proj", .feedForwardPostNorm: "mlp_ln",
    ]

    fileprivate static let new = TensorNames(
        prefix: "new.", layer: "encoder.layer.", stems: stems.merging([.query: "attention.qkv_proj"]) { $1 },
        packed: [[.query, .key, .value], [.up, .gate]], heads: ["pooler."])

    /// With `pack_qkv` off.
    fileprivate static let newUnpacked = TensorNames(
        prefix: "new.", layer: "encoder.layer.",
        stems: stems.merging([
            .query: "attention.q_proj", .key: "attention.k_proj", .value: "attention.v_proj",
        ]) { $1 },
        packed: [[.up, .gate]], heads: ["pooler."])
}
