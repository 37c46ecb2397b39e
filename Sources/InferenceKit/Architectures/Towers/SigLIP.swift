import HubCore
import ModelFormats

/// SigLIP (https://arxiv.org/abs/2303.15343) and the SigLIP 2 of fixed sizes: a model of texts that sees both sides, whose
/// vector is read at the last of 64 tokens, and a vision transformer whose squares a learned query attends to.
extension Architecture {
    static let siglip = Architecture(
        "SigLIP", ["siglip"], gguf: [],
        classes: [
            .twoSides("SiglipModel"), .textSide("SiglipTextModel"), .pictureSide("SiglipVisionModel"),
            .pictureLabels("SiglipForImageClassification", rows: .mean, side: .pictures),
        ], names: .siglip
    ) { settings throws(AIError) in
        var texts = try settings.siglipTexts()
        texts.towers = [try settings.seeing { part throws(AIError) in try part.siglipPictures() }]
        texts.similarity = .init(isOfPairs: true)
        return texts
    }

    /// The side of texts by itself.
    static let siglipTexts = Architecture(
        "SigLIP's side of texts", ["siglip_text_model"], gguf: [], classes: [.textSide("SiglipTextModel")],
        names: .siglipTexts
    ) { settings throws(AIError) in try settings.siglipTexts() }

    /// The side of pictures by itself.
    static let siglipPictures = Architecture(
        "SigLIP's side of pictures", ["siglip_vision_model"], gguf: [],
        classes: [.pictureSide("SiglipVisionModel")], names: .siglipPictures
    ) { settings throws(AIError) in try settings.siglipPictures() }
}

extension Settings {
    fileprivate mutating func siglipTexts() throws(AIError) -> ModelDescription {
        let width = try need(configuration.hiddenSize, "hidden_size")
        let projected = count("projection_size") ?? width
        var texts = try textSide(
            epsilon: 1e-6, activation: .geluTanh,
            head: .init(rows: .last, hasBias: true, outputs: .values(projected)), isCausal: false)
        texts.ending = .filled(to: texts.maxPositions, usual: place("pad_token_id") ?? 1)
        return texts
    }

    fileprivate mutating func siglipPictures() throws(AIError) -> ModelDescription {
        var pixels = try pixels(size: 224, patch: 16)
        pixels.first = []
        pixels.positions = .init(leading: 0)
        var pictures = try vision(pixels, epsilon: 1e-6, activation: .geluTanh)
        guard flag("vision_use_head") ?? true, let layer = pictures.layers.first,
            let heads = layer.attention?.heads,
            let inner = layer.feedForward
        else { return pictures }
        let pooling = ModelDescription.AttentionPooling(
            heads: heads, inner: inner.width, activation: inner.activation, norm: layer.norm)
        pictures.head = .init(rows: .attended(pooling), hasMatrix: false, outputs: .values(pictures.width))
        return pictures
    }
}

extension TensorNames {
    fileprivate static let siglip: TensorNames = {
        var names = siglipTexts
        names.towers = [siglipPictures]
        return names
    }()

    fileprivate static let siglipTexts: TensorNames = {
        var names = side(
            "text_model.",
            [
                .embedding: "embeddings.token_embedding", .finalNorm: "final_layer_norm", .head: "head",
                .logitScale: "logit_scale", .logitBias: "logit_bias",
            ])
        names.outside = [.logitScale, .logitBias]
        names.plain = [.logitScale, .logitBias]
        return names
    }()

    fileprivate static let siglipPictures: TensorNames = {
        var names = side(
            "vision_model.",
            [
                .patchKernel: "embeddings.patch_embedding", .finalNorm: "post_layernorm",
                .poolingProbe: "head.probe", .poolingQuery: "head.attention.in_proj_",
                .poolingKey: "head.attention.in_proj_", .poolingValue: "head.attention.in_proj_",
                .poolingOutput: "head.attention.out_proj", .poolingNorm: "head.layernorm",
                .poolingUp: "head.mlp.fc1", .poolingDown: "head.mlp.fc2",
            ])
        let inputs: [TensorRole] = [.poolingQuery, .poolingKey, .poolingValue]
        names.packed = [inputs]
        names.joined = Set(inputs)
        names.plain = [.poolingProbe]
        // Models with labels have it too, and do not read it.
        names.heads = ["head."]
        return names
    }()
}
