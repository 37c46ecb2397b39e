import HubCore
import ModelFormats

/// Families with a model of texts and one of pictures whose vectors are in one space.
extension ModelClass {
    /// Both sides.
    static func twoSides(_ name: String) -> ModelClass {
        ModelClass(name, .zeroShotImages) { settings, d throws(AIError) in d.head }
    }

    /// That of texts alone.
    ///
    /// - Parameter hasHead: whether vectors are in the space of both sides.
    static func textSide(_ name: String, hasHead: Bool = true) -> ModelClass {
        ModelClass(name, .embedding, side: .texts) { settings, d throws(AIError) in hasHead ? d.head : nil }
    }

    /// That of pictures alone.
    static func pictureSide(_ name: String, hasHead: Bool = true) -> ModelClass {
        ModelClass(name, .imageEmbedding, side: .pictures) { settings, d throws(AIError) in hasHead ? d.head : nil }
    }
}

extension Settings {
    /// What the part that sees describes. What of it cannot be run is refused here.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` where there is none.
    mutating func seeing(
        _ describe: (inout Settings) throws(AIError) -> ModelDescription
    ) throws(AIError) -> ModelDescription {
        guard let members = configuration.vision else { throw .malformed(path, "it has no vision_config") }
        var part = try part(members)
        let tower = try describe(&part)
        obstacles += part.obstacles
        return tower
    }

    /// The side of texts: learned positions, norms before each half and after the last layer, biases everywhere.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    mutating func textSide(
        epsilon: Double, activation: ModelDescription.Activation, head: ModelDescription.Head, isCausal: Bool
    ) throws(AIError) -> ModelDescription {
        let c = configuration
        let positions = try need(c.maxPositions, "max_position_embeddings")
        let layer = try transformer(epsilon: epsilon, activation)
        return ModelDescription(
            vocabulary: try need(c.vocabulary, "vocab_size"), width: try need(c.hiddenSize, "hidden_size"),
            maxPositions: positions, embedding: .init(positions: positions),
            layers: Array(repeating: layer, count: try layerCount("num_hidden_layers")),
            finalNorm: layer.norm, head: head, isCausal: isCausal)
    }
}

extension TensorNames {
    /// Those that CLIP and SigLIP call alike, of either side.
    static func side(_ prefix: String, _ stems: [TensorRole: String]) -> TensorNames {
        TensorNames(
            prefix: prefix, layer: "encoder.layers.",
            stems: [
                .positions: "embeddings.position_embedding", .attentionNorm: "layer_norm1",
                .query: "self_attn.q_proj", .key: "self_attn.k_proj", .value: "self_attn.v_proj",
                .attentionOutput: "self_attn.out_proj", .feedForwardNorm: "layer_norm2", .up: "mlp.fc1",
                .down: "mlp.fc2",
            ],
            ignored: ["embeddings.position_ids"]
        ).with(stems)
    }
}
