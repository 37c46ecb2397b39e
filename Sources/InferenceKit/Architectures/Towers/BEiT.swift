import HubCore
import ModelFormats

/// BEiT (https://arxiv.org/abs/2106.08254) and data2vec's side of pictures (https://arxiv.org/abs/2202.03555): what squares
/// are from each other counts in attention, and labels are made of their mean.
extension Architecture {
    static let beit = Architecture(
        "BEiT", ["beit"], gguf: [],
        classes: [
            .meanOrFirst("BeitModel"), .meanOrFirstLabels("BeitForImageClassification"),
            .pictures("BeitForMaskedImageModeling"),
        ], names: .beit("beit.")
    ) { settings throws(AIError) in try settings.beit() }

    static let data2vecVision = Architecture(
        "data2vec's side of pictures", ["data2vec-vision"], gguf: [],
        classes: [
            .meanOrFirst("Data2VecVisionModel"), .meanOrFirstLabels("Data2VecVisionForImageClassification"),
        ], names: .beit("data2vec_vision.")
    ) { settings throws(AIError) in try settings.beit() }
}

extension Settings {
    /// Whether the mean of squares counts, and the last norm is its own.
    fileprivate var takesMeans: Bool { flag("use_mean_pooling") ?? true }

    fileprivate mutating func beit() throws(AIError) -> ModelDescription {
        var pixels = try pixels(size: 224, patch: 16)
        if flag("use_absolute_position_embeddings") ?? false { pixels.positions = .init(leading: 1) }
        let isOwn = flag("use_relative_position_bias") ?? false
        let isShared = flag("use_shared_relative_position_bias") ?? false
        if isOwn || isShared {
            pixels.distances = .init(rows: pixels.rows, columns: pixels.columns, isShared: isShared)
        }
        if isOwn && isShared {
            refuse("use_shared_relative_position_bias", "true beside use_relative_position_bias")
        }
        var model = try vision(pixels, epsilon: 1e-12)
        let isScaled = number("layer_scale_init_value") ?? 0.1 > 0
        for index in model.layers.indices {
            model.layers[index].attention?.hasInputBias = true
            model.layers[index].attention?.hasKeyBias = false
            if isScaled { model.layers[index].scale = .init(kind: .affine(hasBias: false), epsilon: 0) }
        }
        if takesMeans { model.finalNorm = nil }
        return model
    }

    /// The pooler of transformers' `BeitPooler`.
    fileprivate func beitHead(_ d: ModelDescription) -> ModelDescription.Head {
        .init(
            rows: takesMeans ? .meanOfSquares : .first, norm: takesMeans ? d.layers.first?.norm : nil,
            hasMatrix: false, outputs: .values(d.width))
    }
}

extension ModelClass {
    /// The vector that labels are made of. Where a file has not the norm of means, it is the first row.
    fileprivate static func meanOrFirst(_ name: String) -> ModelClass {
        ModelClass(name, .imageEmbedding) { settings, d throws(AIError) in
            let norm = "pooler.layernorm.weight"
            let hasNorm = ["", "beit.", "data2vec_vision."].contains { settings.stores($0 + norm) ?? true }
            return hasNorm ? settings.beitHead(d) : nil
        }
    }

    fileprivate static func meanOrFirstLabels(_ name: String) -> ModelClass {
        ModelClass(name, .imageClassification, [.head: "classifier"]) { settings, d throws(AIError) in
            var head = settings.beitHead(d)
            (head.hasMatrix, head.hasBias, head.takesVectors) = (true, true, true)
            head.outputs = .labels(try settings.labels())
            return head
        }
    }
}

extension TensorNames {
    fileprivate static func beit(_ prefix: String) -> TensorNames {
        var names = vit(prefix).with([
            .attentionPostNorm: "lambda_1", .feedForwardPostNorm: "lambda_2", .headInputNorm: "pooler.layernorm",
            .distances: "encoder.relative_position_bias.relative_position_bias_table",
            .squareDistances: "attention.attention.relative_position_bias.relative_position_bias_table",
        ])
        names.plain.formUnion([.attentionPostNorm, .feedForwardPostNorm, .distances, .squareDistances])
        names.ignored.append("relative_position_index")
        // Of what guesses codes of squares that were left out.
        names.heads += ["lm_head.", "layernorm."]
        return names
    }
}
