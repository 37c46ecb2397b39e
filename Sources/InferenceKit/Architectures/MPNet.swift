import HubCore
import ModelFormats

/// MPNet (https://arxiv.org/abs/2004.09297): BERT with a bias of scores by distance, and no token types.
extension Architecture {
    static let mpnet = Architecture(
        "MPNet", ["mpnet"], gguf: [],
        classes: [
            .base("MPNetModel"),
            .masked(
                "MPNetForMaskedLM", dense: "lm_head.dense", norm: "lm_head.layer_norm", head: "lm_head.decoder",
                bias: "lm_head", activation: .gelu),
            .labels("MPNetForSequenceClassification", dense: "classifier.dense", head: "classifier.out_proj"),
            .tokenLabels("MPNetForTokenClassification"),
        ], names: .mpnet
    ) { settings throws(AIError) in
        var model = try settings.encoder()
        // Positions count from the id of padding on, which is always 1.
        guard model.maxPositions > 2 else {
            throw .malformed(settings.path, "max_position_embeddings is \(model.maxPositions), not more than 2")
        }
        model.embedding.types = nil
        model.embedding.positionOffset = 2
        model.maxPositions -= 2
        // The reference computes with 32, whatever the setting says.
        model.distanceBias = .init(buckets: 32)
        if let buckets = settings.count("relative_attention_num_buckets"), buckets != 32 {
            settings.obstacles.append("relative_attention_num_buckets \(buckets)")
        }
        return model
    }
}

extension TensorNames {
    fileprivate static let mpnet = bert(
        "mpnet.",
        [
            .distanceBias: "encoder.relative_attention_bias", .query: "attention.attn.q", .key: "attention.attn.k",
            .value: "attention.attn.v", .attentionOutput: "attention.attn.o",
            .attentionPostNorm: "attention.LayerNorm",
        ])
}
