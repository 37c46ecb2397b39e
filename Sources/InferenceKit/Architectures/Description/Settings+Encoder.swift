import HubCore
import ModelFormats

extension Settings {
    /// An encoder like BERT: learned positions, token types, layer norms after each half, biases everywhere, exact GELU.
    /// Families change what differs.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    mutating func encoder(activation named: String? = nil, epsilon usual: Double = 1e-12) throws(AIError)
        -> ModelDescription
    {
        let c = configuration
        let width = try need(c.hiddenSize, "hidden_size")
        let heads = try need(c.heads, "num_attention_heads")
        let headSize = try need(c.headSize, "head_dim")
        let positions = try need(c.maxPositions, "max_position_embeddings")
        if let kind = text("position_embedding_type"), kind != "absolute" {
            refuse("position_embedding_type", kind)
        }
        let norm = ModelDescription.Norm(
            kind: .layer(hasBias: true), epsilon: Float(epsilon("layer_norm_eps") ?? usual))
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: headSize, scale: 1 / Float(headSize).squareRoot(),
            hasInputBias: true, hasOutputBias: true)
        let feedForward = ModelDescription.FeedForward(
            width: try need(c.intermediateSize, "intermediate_size"),
            activation: activation(named ?? c.activation, default: .gelu), isGated: false, hasBias: true)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .after, norm: norm)
        return ModelDescription(
            vocabulary: try need(c.vocabulary, "vocab_size"), width: width, maxPositions: positions,
            embedding: .init(positions: positions, types: countIfAny("type_vocab_size") ?? 2, norm: norm),
            layers: Array(repeating: layer, count: try layerCount("num_hidden_layers")),
            finalNorm: nil, head: nil, isCausal: false)
    }
}
