import HubCore
import ModelFormats

/// Jina Embeddings 3 (https://arxiv.org/abs/2409.10173): XLM-RoBERTa with rotary positions.
extension Architecture {
    static let jinaV3 = Architecture(
        "Jina 3", ["jina_embeddings_v3"], gguf: ["jina-bert-v3"],
        classes: [
            .base("JinaEmbeddingsV3Model"), .base("XLMRobertaModel"), .base("XLMRobertaLoRA"),
            .masked(
                "JinaEmbeddingsV3ForMaskedLM", dense: "lm_head.dense", norm: "lm_head.layer_norm",
                head: "lm_head.decoder", bias: "lm_head", activation: .gelu),
            .labels(
                "JinaEmbeddingsV3ForSequenceClassification", dense: "classifier.dense", head: "classifier.out_proj"),
            .tokenLabels("JinaEmbeddingsV3ForTokenClassification"),
        ], names: .jinaV3, otherNames: [.flash], ggufTensors: .jinaGGUF
    ) { settings throws(AIError) in
        var model = try settings.rotaryEncoder(
            base: settings.positive("rotary_emb_base") ?? 20_000, types: 1, epsilon: 1e-5)
        let activation = settings.activation(settings.configuration.activation, default: .gelu)
        model.eachFeedForward { $0.activation = activation }
        model.additions = settings.texts("lora_adaptations") ?? []
        return model
    }
}

extension TensorNames {
    private static let qkv: [[TensorRole]] = [[.query, .key, .value]]

    fileprivate static let jinaV3 = TensorNames.rotaryEncoder(prefix: "roberta.").with([
        .up: "mlp.fc1", .down: "mlp.fc2",
    ])

    /// The names of Jina's own implementation. Its low-rank additions for tasks are not run: the model itself is what
    /// answers where no task is named.
    static let flash = TensorNames(
        prefix: "roberta.", layer: "encoder.layers.",
        stems: [
            .embedding: "embeddings.word_embeddings", .positions: "embeddings.position_embeddings",
            .tokenTypes: "embeddings.token_type_embeddings", .embeddingNorm: "emb_ln", .query: "mixer.Wqkv",
            .attentionOutput: "mixer.out_proj", .attentionPostNorm: "norm1", .up: "mlp.fc1", .down: "mlp.fc2",
            .feedForwardPostNorm: "norm2",
        ],
        packed: qkv, ignored: [".lora_A", ".lora_B"], heads: ["pooler."])

    fileprivate static let jinaGGUF: TensorNames = {
        var names = gguf.with([
            .query: "attn_qkv", .attentionPostNorm: "attn_output_norm", .feedForwardPostNorm: "layer_output_norm",
        ])
        names.packed = qkv
        return names
    }()
}
