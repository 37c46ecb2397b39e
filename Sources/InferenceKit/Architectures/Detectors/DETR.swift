import HubCore
import ModelFormats

/// DETR (https://arxiv.org/abs/2005.12872): a convolutional net makes a map of a picture; an encoder reads its places, and a
/// decoder's rows look for an object each in it. Table Transformer (https://arxiv.org/abs/2110.00061) has its norms before
/// each half.
extension Architecture {
    static let detr = Architecture(
        "DETR", ["detr"], gguf: [],
        classes: [.detector("DetrForObjectDetection", labelLayers: ["class_labels_classifier"])], names: .detr
    ) { settings throws(AIError) in try settings.detr(norms: .after) }

    static let tableTransformer = Architecture(
        "Table Transformer", ["table-transformer"], gguf: [],
        classes: [
            .detector("TableTransformerForObjectDetection", labelLayers: ["class_labels_classifier"])
        ], names: .detr
    ) { settings throws(AIError) in try settings.detr(norms: .before) }
}

extension Settings {
    fileprivate mutating func detr(norms: ModelDescription.Norms) throws(AIError) -> ModelDescription {
        let net = try backbone()
        if let kind = text("position_embedding_type"), kind != "sine" { refuse("position_embedding_type", kind) }
        let queries = count("num_queries") ?? 100
        // Places of the map that is made of the largest picture in training, of 800 by 1333 pixels.
        let pixels = ModelDescription.Pixels(channels: net.channels, patch: 1, rows: 25, columns: 42, first: [])
        var encoder = try half("encoder", norms)
        (encoder.pixels, encoder.maxPositions, encoder.placing) = (pixels, pixels.rowCount, .squares)
        encoder.task = .imageEmbedding
        if norms == .before { encoder.finalNorm = encoder.layers[0].norm }
        var decoder = try half("decoder", norms)
        (decoder.vocabulary, decoder.maxPositions, decoder.placing) = (queries, queries, .tokens)
        decoder.finalNorm = decoder.layers[0].norm
        for index in decoder.layers.indices {
            decoder.layers[index].crossAttention = decoder.layers[index].attention
        }
        decoder.encoders = [encoder]
        decoder.detection = .init(queries: queries, labels: try labels(), labelLayers: 1)
        return decoder
    }

    /// - Parameter name: `encoder` or `decoder`.
    private mutating func half(_ name: String, _ norms: ModelDescription.Norms) throws(AIError) -> ModelDescription
    {
        let width = count("d_model") ?? 256
        let heads = count("\(name)_attention_heads", in: SettingLimits.heads) ?? 8
        guard width % heads == 0 else {
            throw .malformed(path, "d_model \(width) is not divisible by \(heads) heads")
        }
        // Sines and cosines, down and across.
        guard width % 4 == 0 else { throw .malformed(path, "d_model \(width) is not divisible by 4") }
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: width / heads, scale: 1 / Float(width / heads).squareRoot(),
            hasInputBias: true, hasOutputBias: true)
        let feedForward = ModelDescription.FeedForward(
            width: count("\(name)_ffn_dim") ?? 2048,
            activation: activation(text("activation_function"), default: .relu), isGated: false, hasBias: true)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: norms,
            norm: .init(kind: .layer(hasBias: true), epsilon: 1e-5))
        return ModelDescription(
            vocabulary: 1, width: width, maxPositions: 1,
            layers: Array(repeating: layer, count: try layerCount(count("\(name)_layers") ?? 6, "\(name)_layers")),
            isCausal: false)
    }
}

extension TensorNames {
    fileprivate static let detr: TensorNames = {
        func half(_ name: String) -> TensorNames {
            TensorNames(
                layer: "\(name).layers.",
                stems: [
                    .finalNorm: "\(name).layernorm", .attentionNorm: "self_attn_layer_norm",
                    .feedForwardNorm: "final_layer_norm", .query: "self_attn.q_proj", .key: "self_attn.k_proj",
                    .value: "self_attn.v_proj", .attentionOutput: "self_attn.out_proj",
                    .attentionPostNorm: "self_attn_layer_norm", .up: "fc1", .down: "fc2",
                    .feedForwardPostNorm: "final_layer_norm",
                ])
        }
        var names = half("decoder").with([
            .embedding: "query_position_embeddings", .crossQuery: "encoder_attn.q_proj",
            .crossKey: "encoder_attn.k_proj", .crossValue: "encoder_attn.v_proj",
            .crossOutput: "encoder_attn.out_proj", .crossNorm: "encoder_attn_layer_norm",
            .crossPostNorm: "encoder_attn_layer_norm",
        ])
        names.prefix = "model."
        names.encoders = [half("encoder").with([.patchKernel: "input_projection"])]
        // The net before it is read by itself.
        names.heads = ["backbone."]
        return names
    }()
}
