import HubCore
import ModelFormats

extension Settings {
    /// A decoder like GPT (https://github.com/openai/gpt-2), without its table of positions: layer norms with biases before
    /// each half, a plain feed-forward block, biases. Families change what differs.
    ///
    /// - Parameters:
    ///   - inner: the setting with the width of the feed-forward block, which otherwise is four times that of the model.
    ///   - usual: the activation, if the settings do not say.
    ///   - isGrouped: whether heads may share keys and values.
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    mutating func plainDecoder(
        inner: String? = "intermediate_size", activation usual: ModelDescription.Activation = .gelu,
        hasBias: Bool = true, isGrouped: Bool = false
    ) throws(AIError) -> ModelDescription {
        let c = configuration
        let width = try need(c.hiddenSize, "hidden_size")
        let headSize = try need(c.headSize, "head_dim")
        let heads = try need(c.heads, "num_attention_heads")
        let norm = ModelDescription.Norm(kind: .layer(hasBias: true), epsilon: Float(layerNormEpsilon ?? 1e-5))
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: isGrouped ? try need(c.kvHeads, "num_key_value_heads") : heads,
            headSize: headSize, scale: 1 / Float(headSize).squareRoot(), hasInputBias: hasBias,
            hasOutputBias: hasBias)
        let told = isGGUF ? c.intermediateSize : inner.flatMap { count($0) }
        let feedForward = ModelDescription.FeedForward(
            width: told ?? 4 * width, activation: activation(c.activation, default: usual),
            isGated: false, hasBias: hasBias)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .before, norm: norm)
        return ModelDescription(
            vocabulary: try need(c.vocabulary, "vocab_size"), width: width, maxPositions: c.maxPositions ?? 2048,
            layers: Array(repeating: layer, count: try layerCount("num_hidden_layers")), finalNorm: norm,
            head: .init(isTied: isTied(default: false)))
    }

    /// Of layer norms, under any of its names; nil if the settings do not say.
    var layerNormEpsilon: Double? {
        ["layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps"].lazy.compactMap { epsilon($0) }.first
    }
}

extension ModelDescription {
    /// Makes all norms of another kind.
    mutating func setNorms(_ norm: Norm) {
        finalNorm = norm
        for index in layers.indices { layers[index].norm = norm }
    }

    /// Puts the norms of every layer somewhere else.
    mutating func placeNorms(_ norms: Norms) {
        for index in layers.indices { layers[index].norms = norms }
    }
}
