import HubCore
import ModelFormats

/// NomicBERT (https://arxiv.org/abs/2402.01613): BERT with rotary positions and gated feed-forward blocks, no biases.
/// Its files have the names of GPT-2's configuration, or since transformers 5 those of BERT's.
extension Architecture {
    static let nomicBert = Architecture(
        "NomicBERT", ["nomic_bert"], gguf: ["nomic-bert"],
        classes: [
            .base("NomicBertModel"),
            .masked(
                "NomicBertForMaskedLM", dense: "cls.predictions.transform.dense",
                norm: "cls.predictions.transform.layer_norm", head: "cls.predictions.decoder",
                bias: "cls.predictions"),
            .nomicPreTraining, .labels("NomicBertForSequenceClassification", pooler: "pooler.dense"),
            .tokenLabels("NomicBertForTokenClassification"),
        ], names: .nomicBert, otherNames: [.nomicBertToday], ggufTensors: .nomicGGUF
    ) { settings throws(AIError) in
        var model = try settings.rotaryEncoder(base: settings.positive("rotary_emb_base") ?? 1000, types: 2)
        settings.refuse(["prenorm", "causal", "parallel_block", "use_rms_norm"]) { $0.flag($1) == true }
        settings.refuse(["moe_every_n_layers", "rotary_emb_scale_base"]) { $0.number($1) ?? 0 != 0 }
        settings.refuse(["rotary_emb_fraction"]) { $0.number($1) ?? 1 != 1 }
        if let multiple = settings.count("pad_vocab_size_multiple") {
            model.vocabulary = (model.vocabulary + multiple - 1) / multiple * multiple
        }
        let isAdjacent = settings.flag("rotary_emb_interleaved") ?? false
        let hasBias = settings.flag("qkv_proj_bias") ?? false
        model.eachAttention {
            $0.rotary?.isAdjacent = isAdjacent
            ($0.hasInputBias, $0.hasOutputBias) = (hasBias, hasBias)
        }
        // The base grows behind the positions of training.
        if let factor = settings.positive("rotary_scaling_factor") {
            let trained = try settings.need(settings.positions("max_trained_positions"), "max_trained_positions")
            model.eachAttention { $0.rotary?.scaling = .dynamic(factor: factor, originalPositions: trained) }
        }
        let (activation, isGated) = settings.nomicActivation()
        let (first, second) = (settings.flag("mlp_fc1_bias") ?? false, settings.flag("mlp_fc2_bias") ?? false)
        model.eachFeedForward {
            ($0.activation, $0.isGated, $0.hasBias, $0.hasOutputBias) = (activation, isGated, first, second)
        }
        return model
    }
}

extension Settings {
    /// The setting of transformers names what gates; the published one the whole block.
    fileprivate mutating func nomicActivation() -> (ModelDescription.Activation, isGated: Bool) {
        switch text("activation_function") {
        case nil: (activation(text("hidden_act"), default: .silu), true)
        case "swiglu": (.silu, true)
        case "geglu": (.gelu, true)
        case let named: (activation(named, default: .gelu), false)
        }
    }

    /// Adds the settings for which something holds to the obstacles.
    mutating func refuse(_ keys: [String], where isForeign: (Settings, String) -> Bool) {
        for key in keys where isForeign(self, key) {
            refuse(key, value(key)?.text())
        }
    }
}

extension ModelClass {
    /// The published head: its biases are those of the feed-forward blocks.
    fileprivate static let nomicPreTraining = ModelClass(
        "NomicBertForPreTraining", .fillMask,
        [
            .headDense: "cls.predictions.transform.dense", .headNorm: "cls.predictions.transform.layer_norm",
            .head: "cls.predictions.decoder",
        ]
    ) { settings, d throws(AIError) in
        let hasBias = settings.flag("mlp_fc1_bias") ?? false
        return Head(
            dense: .init(
                width: d.width, hasBias: hasBias, activation: d.layers.first?.feedForward?.activation,
                norm: d.embedding.norm),
            isTied: settings.isTied(default: true), hasBias: hasBias)
    }
}

extension TensorNames {
    private static let qkv: [[TensorRole]] = [[.query, .key, .value]]

    fileprivate static let nomicBert = TensorNames(
        prefix: "bert.", layer: "encoder.layers.",
        stems: [
            .embedding: "embeddings.word_embeddings", .tokenTypes: "embeddings.token_type_embeddings",
            .embeddingNorm: "emb_ln", .query: "attn.Wqkv", .attentionOutput: "attn.out_proj",
            .attentionPostNorm: "norm1", .gate: "mlp.fc12", .up: "mlp.fc11", .down: "mlp.fc2",
            .feedForwardPostNorm: "norm2",
        ],
        packed: qkv, heads: ["pooler."])

    fileprivate static let nomicBertToday = TensorNames.rotaryEncoder(prefix: "nomic_bert.")

    fileprivate static let nomicGGUF: TensorNames = {
        var names = gguf.with([
            .query: "attn_qkv", .attentionPostNorm: "attn_output_norm", .feedForwardPostNorm: "layer_output_norm",
        ])
        names.packed = qkv
        return names
    }()

    /// The names that transformers gives to encoders with rotary positions.
    static func rotaryEncoder(prefix: String) -> TensorNames {
        TensorNames(
            prefix: prefix, layer: "layers.",
            stems: [
                .embedding: "embeddings.word_embeddings", .tokenTypes: "embeddings.token_type_embeddings",
                .embeddingNorm: "embeddings.LayerNorm", .query: "self_attn.q_proj", .key: "self_attn.k_proj",
                .value: "self_attn.v_proj", .attentionOutput: "self_attn.o_proj",
                .attentionPostNorm: "post_attention_layernorm", .gate: "mlp.gate_proj", .up: "mlp.up_proj",
                .down: "mlp.down_proj", .feedForwardPostNorm: "post_mlp_layernorm",
            ],
            heads: ["pooler."])
    }
}
