import HubCore
import ModelFormats

/// CLIP (https://arxiv.org/abs/2103.00020): a causal model of texts, whose vector is read at the token that ends them, and a
/// vision transformer with a norm before its first layer.
extension Architecture {
    static let clip = Architecture(
        "CLIP", ["clip"], gguf: [],
        classes: [
            .twoSides("CLIPModel"), .textSide("CLIPTextModelWithProjection"),
            .textSide("CLIPTextModel", hasHead: false), .pictureSide("CLIPVisionModelWithProjection"),
            .pictureSide("CLIPVisionModel", hasHead: false),
            .pictureLabels("CLIPForImageClassification", rows: .meanOfSquares, side: .pictures),
        ], names: .clip, otherNames: [.openCLIP]
    ) { settings throws(AIError) in
        settings.refuseOpenCLIP()
        let width = settings.outer.count("projection_dim") ?? 512
        var texts = try settings.clipTexts(width)
        texts.towers = [
            try settings.seeing { part throws(AIError) in try part.clipPictures(width) }
        ]
        texts.similarity = .init(isOfPairs: false)
        return texts
    }

    /// The side of texts by itself.
    static let clipTexts = Architecture(
        "CLIP's side of texts", ["clip_text_model"], gguf: [],
        classes: [.textSide("CLIPTextModel", hasHead: false), .textSide("CLIPTextModelWithProjection")],
        names: .clipTexts
    ) { settings throws(AIError) in try settings.clipTexts(settings.count("projection_dim") ?? 512) }

    /// The side of pictures by itself.
    static let clipPictures = Architecture(
        "CLIP's side of pictures", ["clip_vision_model"], gguf: [],
        classes: [.pictureSide("CLIPVisionModel", hasHead: false), .pictureSide("CLIPVisionModelWithProjection")],
        names: .clipPictures
    ) { settings throws(AIError) in try settings.clipPictures(settings.count("projection_dim") ?? 512) }
}

extension Settings {
    /// - Parameter projected: the length of vectors.
    fileprivate mutating func clipTexts(_ projected: Int) throws(AIError) -> ModelDescription {
        var texts = try textSide(
            epsilon: 1e-5, activation: .quickGelu, head: .init(rows: .last, outputs: .values(projected)),
            isCausal: true)
        let end = place("eos_token_id") ?? 49407
        // 2 stands in OpenAI's files, whose tokens end with the largest id (transformers' `CLIPTextTransformer`).
        texts.ending = .token(end == 2 ? nil : end)
        return texts
    }

    fileprivate mutating func clipPictures(_ projected: Int) throws(AIError) -> ModelDescription {
        var pixels = try pixels(size: 224, patch: 32)
        pixels.hasBias = false
        pixels.positions = .init(leading: 1)
        var pictures = try vision(pixels, epsilon: 1e-5, activation: .quickGelu)
        pictures.embedding.norm = pictures.finalNorm
        pictures.head = .init(rows: .first, outputs: .values(projected))
        return pictures
    }
}

extension TensorNames {
    fileprivate static let clip: TensorNames = {
        var names = clipTexts
        names.towers = [clipPictures]
        return names
    }()

    fileprivate static let clipTexts: TensorNames = {
        var names = side(
            "text_model.",
            [
                .embedding: "embeddings.token_embedding", .finalNorm: "final_layer_norm",
                .head: "text_projection", .logitScale: "logit_scale",
            ])
        names.outside.formUnion([.logitScale])
        names.plain.insert(.logitScale)
        return names
    }()

    fileprivate static let clipPictures: TensorNames = {
        var names = side(
            "vision_model.",
            [
                .patchKernel: "embeddings.patch_embedding", .classToken: "embeddings.class_embedding",
                .embeddingNorm: "pre_layrnorm", .finalNorm: "post_layernorm", .head: "visual_projection",
            ])
        names.plain.insert(.classToken)
        names.vectors.insert(.classToken)
        return names
    }()
}
