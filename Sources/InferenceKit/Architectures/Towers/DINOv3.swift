import HubCore
import ModelFormats

/// DINOv3 (https://arxiv.org/abs/2508.10104): squares have no learned positions, but turn in attention by where they are.
extension Architecture {
    static let dinov3 = Architecture(
        "DINOv3", ["dinov3_vit"], gguf: [], classes: [.pictures("DINOv3ViTModel")], names: .dinov3
    ) { settings throws(AIError) in try settings.dinov3() }
}

extension Settings {
    fileprivate mutating func dinov3() throws(AIError) -> ModelDescription {
        var pixels = try pixels(size: 224, patch: 16)
        if let registers = countIfAny("num_register_tokens") { pixels.first.append(.registers(registers)) }
        var model = try vision(pixels, epsilon: 1e-5)
        let hasBias = flag("query_bias") ?? true
        if flag("value_bias") ?? true != hasBias { refuse("value_bias", "\(!hasBias)") }
        let base = rope.positive("rope_theta") ?? positive("rope_theta") ?? 100
        for index in model.layers.indices {
            model.layers[index].scale = .init(kind: .affine(hasBias: false), epsilon: 0)
            model.layers[index].feedForward?.isGated = flag("use_gated_mlp") ?? false
            model.layers[index].feedForward?.hasBias = flag("mlp_bias") ?? true
            guard var attention = model.layers[index].attention else { continue }
            guard attention.headSize % 4 == 0 else {
                throw .malformed(path, "a head of \(attention.headSize) has no pairs for both directions")
            }
            attention.rotary = .init(base: base, rotated: attention.headSize, isOfSquares: true)
            (attention.hasInputBias, attention.hasKeyBias) = (hasBias, flag("key_bias") ?? false)
            attention.hasOutputBias = flag("proj_bias") ?? true
            model.layers[index].attention = attention
        }
        return model
    }
}

extension TensorNames {
    fileprivate static let dinov3 = TensorNames(
        prefix: "", layer: "layer.",
        stems: [
            .patchKernel: "embeddings.patch_embeddings", .classToken: "embeddings.cls_token",
            .registers: "embeddings.register_tokens", .finalNorm: "norm", .attentionNorm: "norm1",
            .query: "attention.q_proj", .key: "attention.k_proj", .value: "attention.v_proj",
            .attentionOutput: "attention.o_proj", .attentionPostNorm: "layer_scale1.lambda1",
            .feedForwardNorm: "norm2", .gate: "mlp.gate_proj", .up: "mlp.up_proj", .down: "mlp.down_proj",
            .feedForwardPostNorm: "layer_scale2.lambda1",
        ],
        plain: [.classToken, .registers, .attentionPostNorm, .feedForwardPostNorm],
        // Stands for squares that were left out in training.
        ignored: ["embeddings.mask_token"])
}
