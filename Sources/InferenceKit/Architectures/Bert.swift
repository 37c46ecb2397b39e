import HubCore
import ModelFormats

/// BERT (https://arxiv.org/abs/1810.04805): an encoder with layer norms after each half.
extension Architecture {
    static let bert = Architecture(
        "BERT", ["bert"], gguf: ["bert"],
        classes: [
            .base("BertModel"), .words("BertForMaskedLM"), .words("BertForPreTraining"),
            .labels("BertForSequenceClassification", pooler: "pooler.dense"),
            .tokenLabels("BertForTokenClassification"),
        ], names: .bert, ggufTensors: .bertGGUF
    ) { settings throws(AIError) in
        let c = settings.configuration
        let width = try settings.need(c.hiddenSize, "hidden_size")
        let heads = try settings.need(c.heads, "num_attention_heads")
        let headSize = try settings.need(c.headSize, "head_dim")
        let positions = try settings.need(c.maxPositions, "max_position_embeddings")
        if let kind = settings.text("position_embedding_type"), kind != "absolute" {
            settings.obstacles.append("position_embedding_type \(kind.printable)")
        }
        let norm = ModelDescription.Norm(
            kind: .layer(hasBias: true), epsilon: Float(settings.number("layer_norm_eps") ?? 1e-12))
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: headSize, scale: 1 / Float(headSize).squareRoot(),
            hasInputBias: true, hasOutputBias: true)
        let feedForward = ModelDescription.FeedForward(
            width: try settings.need(c.intermediateSize, "intermediate_size"),
            activation: settings.activation(c.activation, default: .gelu), isGated: false, hasBias: true)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .after, norm: norm)
        return ModelDescription(
            vocabulary: try settings.need(c.vocabulary, "vocab_size"), width: width, maxPositions: positions,
            embedding: .init(
                positions: positions, types: settings.count("type_vocab_size") ?? 2, norm: norm),
            layers: Array(repeating: layer, count: try settings.layerCount("num_hidden_layers")),
            finalNorm: nil, head: nil, isCausal: false)
    }
}

extension ModelClass {
    fileprivate static func words(_ name: String) -> ModelClass {
        .masked(
            name, dense: "cls.predictions.transform.dense", norm: "cls.predictions.transform.LayerNorm",
            head: "cls.predictions.decoder", bias: "cls.predictions")
    }
}

extension TensorNames {
    fileprivate static let bert = TensorNames(
        prefix: "bert.", layer: "encoder.layer.",
        stems: [
            .embedding: "embeddings.word_embeddings", .positions: "embeddings.position_embeddings",
            .tokenTypes: "embeddings.token_type_embeddings", .embeddingNorm: "embeddings.LayerNorm",
            .query: "attention.self.query", .key: "attention.self.key", .value: "attention.self.value",
            .attentionOutput: "attention.output.dense", .attentionPostNorm: "attention.output.LayerNorm",
            .up: "intermediate.dense", .down: "output.dense", .feedForwardPostNorm: "output.LayerNorm",
        ],
        ignored: ["embeddings.position_ids"], heads: ["pooler.", "cls.seq_relationship."])

    fileprivate static let bertGGUF = gguf.with([
        .attentionPostNorm: "attn_output_norm", .feedForwardPostNorm: "layer_output_norm",
    ])
}
