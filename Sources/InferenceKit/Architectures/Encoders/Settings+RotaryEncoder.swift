import HubCore
import ModelFormats

extension Settings {
    /// An encoder with rotary positions: layer norms after each half and after the embedding, biases, a plain
    /// feed-forward block. Families change what differs.
    ///
    /// - Parameters:
    ///   - base: of the rotary embedding, if the settings do not say.
    ///   - types: token types, if the settings do not say.
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    mutating func rotaryEncoder(base: Double, types: Int?, epsilon usual: Double = 1e-12) throws(AIError)
        -> ModelDescription
    {
        let c = configuration
        let width = try need(c.hiddenSize, "hidden_size")
        let heads = try need(c.heads, "num_attention_heads")
        let headSize = try need(c.headSize, "head_dim")
        let epsilon = layerNormEpsilon ?? usual
        let norm = ModelDescription.Norm(kind: .layer(hasBias: true), epsilon: Float(epsilon))
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: headSize, scale: 1 / Float(headSize).squareRoot(),
            rotary: try rotary(headSize: headSize, base: base), hasInputBias: true, hasOutputBias: true)
        let feedForward = ModelDescription.FeedForward(
            width: c.intermediateSize ?? 4 * width, activation: .gelu, isGated: false, hasBias: true)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .after, norm: norm)
        return ModelDescription(
            vocabulary: try need(c.vocabulary, "vocab_size"), width: width,
            maxPositions: try need(c.maxPositions, "max_position_embeddings"),
            embedding: .init(types: has("type_vocab_size") ? countIfAny("type_vocab_size") : types, norm: norm),
            layers: Array(repeating: layer, count: try layerCount("num_hidden_layers")),
            finalNorm: nil, head: nil, isCausal: false)
    }
}

extension ModelDescription {
    /// Changes every layer's feed-forward block.
    mutating func eachFeedForward(_ change: (inout FeedForward) -> Void) {
        for index in layers.indices {
            guard var feedForward = layers[index].feedForward else { continue }
            change(&feedForward)
            layers[index].feedForward = feedForward
        }
    }
}
