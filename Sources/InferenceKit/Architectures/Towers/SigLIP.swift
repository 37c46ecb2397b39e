import HubCore
import ModelFormats

/// SigLIP (https://arxiv.org/abs/2303.15343) and the SigLIP 2 of fixed sizes: a model of texts that sees both sides, whose
/// vector is read at the last of 64 tokens, and a vision transformer whose squares a learned query attends to.
extension Architecture {
    static let siglip = Architecture(
        "SigLIP", ["siglip"], gguf: [], classes: ModelClass.siglip("Siglip"), names: .siglip
    ) { settings throws(AIError) in
        try settings.siglip { part throws(AIError) in try part.siglipPictures() }
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

    /// SigLIP 2 (https://arxiv.org/abs/2502.14786) of native resolution: a picture keeps its ratio, and has as many squares
    /// as fit into a number. Texts become lower case, whatever their files say.
    static let siglip2 = Architecture(
        "SigLIP 2", ["siglip2"], gguf: [], classes: ModelClass.siglip("Siglip2"), names: .siglip, lowercases: true
    ) { settings throws(AIError) in
        try settings.siglip { part throws(AIError) in try part.siglipPictures(areNative: true) }
    }

    static let siglip2Texts = Architecture(
        "SigLIP 2's side of texts", ["siglip2_text_model"], gguf: [], classes: [.textSide("Siglip2TextModel")],
        names: .siglipTexts, lowercases: true
    ) { settings throws(AIError) in try settings.siglipTexts() }

    static let siglip2Pictures = Architecture(
        "SigLIP 2's side of pictures", ["siglip2_vision_model"], gguf: [],
        classes: [.pictureSide("Siglip2VisionModel")], names: .siglipPictures
    ) { settings throws(AIError) in try settings.siglipPictures(areNative: true) }
}

extension ModelClass {
    /// The classes of both sides, of either, and with labels.
    fileprivate static func siglip(_ stem: String) -> [ModelClass] {
        [
            .twoSides("\(stem)Model"), .textSide("\(stem)TextModel"), .pictureSide("\(stem)VisionModel"),
            .pictureLabels("\(stem)ForImageClassification", rows: .mean, side: .pictures),
        ]
    }
}

extension Settings {
    /// Both sides.
    ///
    /// - Parameter seen: what the side of pictures describes.
    fileprivate mutating func siglip(
        _ seen: (inout Settings) throws(AIError) -> ModelDescription
    ) throws(AIError) -> ModelDescription {
        var texts = try siglipTexts()
        texts.towers = [try seeing(seen)]
        texts.similarity = .init(isOfPairs: true)
        return texts
    }

    fileprivate mutating func siglipTexts() throws(AIError) -> ModelDescription {
        let width = try need(configuration.hiddenSize, "hidden_size")
        let projected = count("projection_size") ?? width
        var texts = try textSide(
            epsilon: 1e-6, activation: .geluTanh,
            head: .init(rows: .last, hasBias: true, outputs: .values(projected)), isCausal: false)
        texts.ending = .filled(to: texts.maxPositions, usual: place("pad_token_id") ?? 1)
        return texts
    }

    fileprivate mutating func siglipPictures(areNative: Bool = false) throws(AIError) -> ModelDescription {
        var pixels: ModelDescription.Pixels
        if areNative {
            pixels = try nativePixels(squares: 256, patch: 16)
        } else {
            pixels = try self.pixels(size: 224, patch: 16)
            (pixels.first, pixels.positions) = ([], .init(leading: 0))
        }
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
