import HubCore
import ModelFormats

/// ViT (https://arxiv.org/abs/2010.11929), DeiT (https://arxiv.org/abs/2012.12877) and DINOv2
/// (https://arxiv.org/abs/2304.07193), with registers too (https://arxiv.org/abs/2309.16588).
extension Architecture {
    static let vit = Architecture(
        "ViT", ["vit"], gguf: [],
        classes: [.pictures("ViTModel"), .pictureLabels("ViTForImageClassification")], names: .vit("vit.")
    ) { settings throws(AIError) in
        var pixels = try settings.pixels(size: 224, patch: 16)
        pixels.positions = .init(leading: 1)
        return try settings.vision(pixels, epsilon: 1e-12)
    }

    /// A ViT that learned to draw what it does not see (https://arxiv.org/abs/2111.06377). What draws is not read.
    static let vitMAE = Architecture(
        "ViT-MAE", ["vit_mae"], gguf: [], classes: [.pictures("ViTMAEModel"), .pictures("ViTMAEForPreTraining")],
        names: {
            var names = TensorNames.vit("vit.")
            names.heads.append("decoder.")
            return names
        }()
    ) { settings throws(AIError) in
        var pixels = try settings.pixels(size: 224, patch: 16)
        pixels.positions = .init(leading: 1)
        return try settings.vision(pixels, epsilon: 1e-12)
    }

    /// https://arxiv.org/abs/2204.07141
    static let vitMSN = Architecture(
        "ViT-MSN", ["vit_msn"], gguf: [],
        classes: [.pictures("ViTMSNModel"), .pictureLabels("ViTMSNForImageClassification")], names: .vit("vit.")
    ) { settings throws(AIError) in
        var pixels = try settings.pixels(size: 224, patch: 16)
        pixels.positions = .init(leading: 1)
        return try settings.vision(pixels, epsilon: 1e-6)
    }

    /// A second learned row stands behind the first, whatever the class.
    static let deit = Architecture(
        "DeiT", ["deit"], gguf: [],
        classes: [.pictures("DeiTModel"), .pictureLabels("DeiTForImageClassification")], names: .vit("deit.")
    ) { settings throws(AIError) in
        var pixels = try settings.pixels(size: 224, patch: 16)
        pixels.first.append(.distillation)
        pixels.positions = .init(leading: 2)
        return try settings.vision(pixels, epsilon: 1e-12)
    }

    static let dinov2 = Architecture(
        "DINOv2", ["dinov2"], gguf: [],
        classes: [.pictures("Dinov2Model"), .pictureLabels("Dinov2ForImageClassification", rows: .firstAndMean)],
        names: .dino("dinov2."), otherNames: TensorNames.gatedDino("dinov2.")
    ) { settings throws(AIError) in try settings.dino(hasRegisters: false) }

    static let dinov2WithRegisters = Architecture(
        "DINOv2 with registers", ["dinov2_with_registers"], gguf: [],
        classes: [
            .pictures("Dinov2WithRegistersModel"),
            .pictureLabels("Dinov2WithRegistersForImageClassification", rows: .firstAndMean),
        ],
        names: .dino("dinov2_with_registers."), otherNames: TensorNames.gatedDino("dinov2_with_registers.")
    ) { settings throws(AIError) in try settings.dino(hasRegisters: true) }
}

extension Settings {
    /// A DINOv2, with registers or without.
    mutating func dino(hasRegisters: Bool) throws(AIError) -> ModelDescription {
        var pixels = try pixels(size: 224, patch: hasRegisters ? 16 : 14)
        if hasRegisters { pixels.first.append(.registers(count("num_register_tokens") ?? 4)) }
        pixels.positions = .init(leading: 1, hasAntialias: hasRegisters)
        let width = try need(configuration.hiddenSize, "hidden_size")
        let ratio = positive("mlp_ratio") ?? 4
        guard ratio <= 1024, Double(width) * ratio >= 1 else {
            throw .malformed(path, "mlp_ratio is \(ratio)")
        }
        let isGated = flag("use_swiglu_ffn") ?? false
        let inner = Int(Double(width) * ratio)
        var model = try vision(
            pixels, inner: isGated ? (Int(Double(inner) * 2 / 3) + 7) / 8 * 8 : inner, epsilon: 1e-6)
        for index in model.layers.indices {
            model.layers[index].scale = .init(kind: .affine(hasBias: false), epsilon: 0)
            if isGated {
                model.layers[index].feedForward?.isGated = true
                model.layers[index].feedForward?.activation = .silu
            }
        }
        return model
    }
}

extension TensorNames {
    static func vit(_ prefix: String) -> TensorNames {
        TensorNames(
            prefix: prefix, layer: "encoder.layer.",
            stems: [
                .patchKernel: "embeddings.patch_embeddings.projection", .classToken: "embeddings.cls_token",
                .distillationToken: "embeddings.distillation_token",
                .positions: "embeddings.position_embeddings", .finalNorm: "layernorm",
                .attentionNorm: "layernorm_before", .query: "attention.attention.query",
                .key: "attention.attention.key", .value: "attention.attention.value",
                .attentionOutput: "attention.output.dense", .feedForwardNorm: "layernorm_after",
                .up: "intermediate.dense", .down: "output.dense",
            ],
            plain: [.classToken, .distillationToken, .positions, .registers],
            // Stands for squares that were left out in training.
            ignored: ["embeddings.mask_token"], heads: ["pooler."])
    }

    static func dino(_ prefix: String) -> TensorNames {
        var names = vit(prefix).with([
            .registers: "embeddings.register_tokens", .attentionNorm: "norm1", .feedForwardNorm: "norm2",
            .up: "mlp.fc1", .down: "mlp.fc2", .attentionPostNorm: "layer_scale1.lambda1",
            .feedForwardPostNorm: "layer_scale2.lambda1",
        ])
        names.plain.formUnion([.attentionPostNorm, .feedForwardPostNorm])
        return names
    }

    /// Those of DINOv2-giant: gate and up in one tensor, or in two as transformers 5 writes them.
    fileprivate static func gatedDino(_ prefix: String) -> [TensorNames] {
        var packed = dino(prefix).with([
            .gate: "mlp.weights_in", .up: "mlp.weights_in", .down: "mlp.weights_out",
        ])
        packed.packed = [[.gate, .up]]
        return [
            packed, dino(prefix).with([.gate: "mlp.gate_proj", .up: "mlp.up_proj", .down: "mlp.down_proj"]),
        ]
    }
}
