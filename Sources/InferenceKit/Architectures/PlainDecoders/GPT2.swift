import HubCore
import ModelFormats

/// GPT-2 (https://github.com/openai/gpt-2): learned positions, layer norms, biases, matrices stored turned.
extension Architecture {
    static let gpt2 = Architecture(
        "GPT-2", ["gpt2"], gguf: ["gpt2"], classes: [.generator("GPT2LMHeadModel"), .base("GPT2Model")],
        names: .gpt2, ggufTensors: .packedGGUF
    ) { settings throws(AIError) in
        let c = settings.configuration
        let width = try settings.need(c.hiddenSize, "n_embd")
        let heads = try settings.need(c.heads, "n_head")
        let headSize = try settings.need(c.headSize, "head_dim")
        let positions = try settings.need(c.maxPositions, "n_positions")
        let epsilon = settings.epsilon("layer_norm_epsilon") ?? settings.epsilon("layer_norm_eps") ?? 1e-5
        let norm = ModelDescription.Norm(kind: .layer(hasBias: true), epsilon: Float(epsilon))
        if settings.flag("scale_attn_by_inverse_layer_idx") == true {
            settings.refuse("scale_attn_by_inverse_layer_idx")
        }
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: headSize,
            scale: settings.flag("scale_attn_weights") == false ? 1 : 1 / Float(headSize).squareRoot(),
            hasInputBias: true, hasOutputBias: true)
        let feedForward = ModelDescription.FeedForward(
            width: c.intermediateSize ?? 4 * width,
            activation: settings.activation(c.activation, default: .geluTanh),
            isGated: false, hasBias: true)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .before, norm: norm)
        return ModelDescription(
            vocabulary: try settings.need(c.vocabulary, "vocab_size"), width: width, maxPositions: positions,
            embedding: .init(positions: positions),
            layers: Array(repeating: layer, count: try settings.layerCount("n_layer")), finalNorm: norm,
            head: .init(isTied: settings.isTied(default: true)))
    }
}

extension TensorNames {
    fileprivate static let gpt2 = TensorNames(
        prefix: "transformer.", layer: "h.",
        stems: [
            .embedding: "wte", .positions: "wpe", .finalNorm: "ln_f", .head: "lm_head", .attentionNorm: "ln_1",
            .query: "attn.c_attn", .attentionOutput: "attn.c_proj", .feedForwardNorm: "ln_2", .up: "mlp.c_fc",
            .down: "mlp.c_proj",
        ],
        packed: [[.query, .key, .value]], isTransposed: true, ignored: ["attn.bias", "attn.masked_bias"])
}
