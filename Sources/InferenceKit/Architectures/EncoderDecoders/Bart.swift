import HubCore
import ModelFormats

/// BART (https://arxiv.org/abs/1910.13461): an encoder like BERT, and a decoder like it with cross attention; positions
/// from the table's third row on. A classifier's decoder reads the text once more, behind its starting token. mBART
/// (https://arxiv.org/abs/2001.08210, https://arxiv.org/abs/2008.00401) translates, and has norms before each half.
extension Architecture {
    static let bart = Architecture(
        "BART", ["bart"], gguf: [],
        classes: [
            ModelClass("BartForConditionalGeneration", .textGeneration) {
                settings, d throws(AIError) in
                .init(isTied: true, hasBias: settings.stores("final_logits_bias") ?? true)
            },
            ModelClass(
                "BartForSequenceClassification", .classification,
                [.headDense: "classification_head.dense", .head: "classification_head.out_proj"]
            ) { settings, d throws(AIError) in
                .init(
                    rows: .last, dense: .init(width: d.width, activation: .tanh), hasBias: true,
                    outputs: .labels(try settings.labels()))
            },
        ], names: .bart
    ) { settings throws(AIError) in
        for key in ["normalize_before", "add_final_layer_norm", "static_position_embeddings"]
        where settings.flag(key) == true { settings.refuse(key, "true") }
        return try settings.bart(norms: .after)
    }

    static let mBart = Architecture(
        "mBART", ["mbart"], gguf: [],
        classes: [
            ModelClass("MBartForConditionalGeneration", .textGeneration) { settings, d throws(AIError) in
                .init(isTied: true, hasBias: settings.stores("final_logits_bias") ?? true)
            }
        ], names: .bart
    ) { settings throws(AIError) in
        for (key, usual) in [
            ("normalize_before", true), ("add_final_layer_norm", true), ("normalize_embedding", true),
            ("static_position_embeddings", false),
        ] where settings.flag(key) ?? usual != usual { settings.refuse(key, "\(!usual)") }
        var d = try settings.bart(norms: .before)
        d.languages = .tokens
        return d
    }
}

extension Settings {
    /// With a table of positions, and a norm of the embedding.
    fileprivate mutating func bart(norms: ModelDescription.Norms) throws(AIError) -> ModelDescription {
        try likeBart(norms: norms) { d in
            d.embedding.positions = d.maxPositions + 2
            d.embedding.positionOffset = 2
            d.embedding.norm = d.layers[0].norm
        }
    }

    /// An encoder and a decoder with layers like BART's.
    ///
    /// - Parameter positions: says how each half knows positions.
    mutating func likeBart(norms: ModelDescription.Norms, _ positions: (inout ModelDescription) -> Void)
        throws(AIError)
        -> ModelDescription
    {
        var encoder = try half("encoder", layers: count("encoder_layers"), norms)
        (encoder.isCausal, encoder.task) = (false, .embedding)
        var decoder = try half("decoder", layers: configuration.layers, norms)
        for index in decoder.layers.indices {
            decoder.layers[index].crossAttention = decoder.layers[index].attention
        }
        positions(&encoder)
        positions(&decoder)
        decoder.encoders = [encoder]
        return decoder
    }

    /// - Parameter name: `encoder` or `decoder`.
    private mutating func half(_ name: String, layers: Int?, _ norms: ModelDescription.Norms) throws(AIError)
        -> ModelDescription
    {
        let width = try need(configuration.hiddenSize, "d_model")
        let heads = try need(count("\(name)_attention_heads", in: SettingLimits.heads), "\(name)_attention_heads")
        guard width % heads == 0 else {
            throw .malformed(path, "d_model \(width) is not divisible by \(heads) heads")
        }
        let positions = try need(configuration.maxPositions, "max_position_embeddings")
        let norm = ModelDescription.Norm(kind: .layer(hasBias: true), epsilon: 1e-5)
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: heads, headSize: width / heads, scale: 1 / Float(width / heads).squareRoot(),
            hasInputBias: true, hasOutputBias: true)
        let feedForward = ModelDescription.FeedForward(
            width: try need(count("\(name)_ffn_dim"), "\(name)_ffn_dim"),
            activation: activation(configuration.activation, default: .gelu), isGated: false, hasBias: true)
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: norms, norm: norm)
        return ModelDescription(
            vocabulary: try need(configuration.vocabulary, "vocab_size"), width: width, maxPositions: positions,
            embedding: .init(scale: flag("scale_embedding") == true ? Float(width).squareRoot() : 1),
            layers: Array(repeating: layer, count: try layerCount(layers, "\(name)_layers")),
            finalNorm: norms == .before ? norm : nil)
    }
}

extension TensorNames {
    /// BART's names, and of kin that have norms before each half.
    static let bart: TensorNames = {
        func half(_ name: String) -> TensorNames {
            TensorNames(
                layer: "\(name).layers.",
                stems: [
                    .positions: "\(name).embed_positions", .embeddingNorm: "\(name).layernorm_embedding",
                    .finalNorm: "\(name).layer_norm", .attentionNorm: "self_attn_layer_norm",
                    .feedForwardNorm: "final_layer_norm",
                    .query: "self_attn.q_proj", .key: "self_attn.k_proj", .value: "self_attn.v_proj",
                    .attentionOutput: "self_attn.out_proj", .attentionPostNorm: "self_attn_layer_norm",
                    .up: "fc1", .down: "fc2", .feedForwardPostNorm: "final_layer_norm",
                ])
        }
        var names = half("decoder").with([
            .embedding: "shared", .head: "lm_head", .crossQuery: "encoder_attn.q_proj",
            .crossKey: "encoder_attn.k_proj",
            .crossValue: "encoder_attn.v_proj", .crossOutput: "encoder_attn.out_proj",
            .crossNorm: "encoder_attn_layer_norm", .crossPostNorm: "encoder_attn_layer_norm",
        ])
        names.prefix = "model."
        names.encoders = [half("encoder")]
        names.plainBiases = [.head: "final_logits_bias"]
        // The table of tokens once more, and versions.
        names.ignored = [
            "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "encoder.version", "decoder.version",
        ]
        return names
    }()
}
