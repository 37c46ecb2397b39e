import HubCore
import ModelFormats

/// BLOOM (https://arxiv.org/abs/2211.05100): ALiBi in place of positions, layer norms, also of the embedding, biases.
extension Architecture {
    static let bloom = Architecture(
        "BLOOM", ["bloom"], gguf: ["bloom"], classes: [.generator("BloomForCausalLM"), .base("BloomModel")],
        names: .bloom, ggufTensors: .packedGGUF
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(inner: nil, activation: .geluTanh)
        // Its other settings are of training, but for this one.
        let key = "apply_residual_connection_post_layernorm"
        if settings.flag(key) == true { settings.refuse(key) }
        model.embedding.norm = model.finalNorm
        model.head?.isTied = settings.isTied(default: true)
        try settings.slope(&model)
        return model
    }
}

extension TensorNames {
    fileprivate static let bloom = TensorNames(
        prefix: "transformer.", layer: "h.",
        stems: [
            .embedding: "word_embeddings", .embeddingNorm: "word_embeddings_layernorm", .finalNorm: "ln_f",
            .head: "lm_head", .attentionNorm: "input_layernorm", .query: "self_attention.query_key_value",
            .attentionOutput: "self_attention.dense", .feedForwardNorm: "post_attention_layernorm",
            .up: "mlp.dense_h_to_4h", .down: "mlp.dense_4h_to_h",
        ],
        packed: [[.query, .key, .value]], isPackedByHead: true)
}
