import HubCore
import ModelFormats

/// OPT (https://arxiv.org/abs/2205.01068): learned positions from the table's third row on, layer norms, biases, ReLU.
extension Architecture {
    static let opt = Architecture(
        "OPT", ["opt"], gguf: [], classes: [.generator("OPTForCausalLM"), .base("OPTModel")], names: .opt
    ) {
        settings throws(AIError) in
        let c = settings.configuration
        let width = try settings.need(c.hiddenSize, "hidden_size")
        let heads = try settings.need(c.heads, "num_attention_heads")
        let headSize = try settings.need(c.headSize, "head_dim")
        let positions = try settings.need(c.maxPositions, "max_position_embeddings")
        // OPT-350m has a narrower embedding, and norms after each half.
        if let narrow = settings.count("word_embed_proj_dim"), narrow != width {
            settings.refuse("word_embed_proj_dim", "\(narrow)")
        }
        for (key, usual) in [
            ("do_layer_norm_before", true), ("layer_norm_elementwise_affine", true),
            ("_remove_final_layer_norm", false),
        ] where settings.flag(key) == !usual { settings.refuse(key, "\(!usual)") }
        let hasBias = settings.flag("enable_bias") ?? true
        let norm = ModelDescription.Norm(kind: .layer(hasBias: true), epsilon: 1e-5)
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: headSize, scale: 1 / Float(headSize).squareRoot(),
            hasInputBias: hasBias, hasOutputBias: hasBias)
        let feedForward = ModelDescription.FeedForward(
            width: try settings.need(settings.count("ffn_dim"), "ffn_dim"),
            activation: settings.activation(c.activation, default: .relu), isGated: false, hasBias: hasBias)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .before, norm: norm)
        return ModelDescription(
            vocabulary: try settings.need(c.vocabulary, "vocab_size"), width: width, maxPositions: positions,
            embedding: .init(positions: positions + 2, positionOffset: 2),
            layers: Array(repeating: layer, count: try settings.layerCount("num_hidden_layers")), finalNorm: norm,
            head: .init(isTied: settings.isTied(default: true)))
    }
}

extension TensorNames {
    fileprivate static let opt = TensorNames(
        prefix: "model.", layer: "decoder.layers.",
        stems: [
            .embedding: "decoder.embed_tokens", .positions: "decoder.embed_positions",
            .finalNorm: "decoder.final_layer_norm", .head: "lm_head", .attentionNorm: "self_attn_layer_norm",
            .query: "self_attn.q_proj", .key: "self_attn.k_proj", .value: "self_attn.v_proj",
            .attentionOutput: "self_attn.out_proj", .feedForwardNorm: "final_layer_norm", .up: "fc1", .down: "fc2",
        ])
}
