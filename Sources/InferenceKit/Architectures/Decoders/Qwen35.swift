import HubCore
import ModelFormats

/// Qwen 3.5: every fourth layer has gated attention, the others a gated delta rule (https://arxiv.org/abs/2412.06464).
extension Architecture {
    static let qwen35 = Architecture(
        "Qwen 3.5", ["qwen3_5", "qwen3_5_text"], gguf: [],
        classes: [.generator("Qwen3_5ForConditionalGeneration")] + .decoder("Qwen3_5") + [
            .base("Qwen3_5TextModel")
        ], names: .qwen35
    ) { settings throws(AIError) in try settings.qwen35() }

    /// The same with a mixture of experts in each layer.
    static let qwen35Moe = Architecture(
        "Qwen 3.5 MoE", ["qwen3_5_moe", "qwen3_5_moe_text"], gguf: [],
        classes: [.generator("Qwen3_5MoeForConditionalGeneration")] + .decoder("Qwen3_5Moe") + [
            .base("Qwen3_5MoeTextModel")
        ], names: .qwen35
    ) { settings throws(AIError) in
        var model = try settings.qwen35()
        var experts = try settings.experts(width: settings.expertWidth, .init(renormalizes: true))
        let shared = settings.count("shared_expert_intermediate_size")
        experts.shared = .init(width: try settings.need(shared, "shared_expert_intermediate_size"), hasGate: true)
        model.mix(experts)
        return model
    }
}

extension TensorNames {
    static let qwen35: TensorNames = {
        var names = llama.with([
            .recurrentInput: "linear_attn.in_proj_qkv", .recurrentGate: "linear_attn.in_proj_z",
            .recurrentStep: "linear_attn.in_proj_a", .recurrentBeta: "linear_attn.in_proj_b",
            .convolution: "linear_attn.conv1d", .recurrentRate: "linear_attn.A_log",
            .recurrentStepBias: "linear_attn.dt_bias", .recurrentNorm: "linear_attn.norm",
            .recurrentOutput: "linear_attn.out_proj",
        ])
        names.plain = [.recurrentRate, .recurrentStepBias]
        names.packed = [[.query, .outputGate]]
        names.isPackedByHead = true
        // Layers that guess further tokens.
        names.heads = ["mtp."]
        return names
    }()
}

extension Settings {
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    mutating func qwen35() throws(AIError) -> ModelDescription {
        // MLX's converter adds the 1 to the norms.
        let isMLX = configuration.quantization?.isMLX == true
        var model = try decoder(normOffset: isMLX ? 0 : 1)
        if flag("attention_bias") == true { obstacles.append("attention_bias") }
        if let named = configuration.activation, named != "silu" {
            obstacles.append("activation \(named.printable) of the convolution")
        }
        let headSize = model.layers.first?.attention?.headSize ?? 0
        let rotary = try rotary(headSize: headSize, share: 0.25)
        let recurrence = ModelDescription.Recurrence.gatedDelta(try gatedDelta(isMLX: isMLX))
        let kinds = configuration.layerKinds
        for index in model.layers.indices {
            let kind =
                kinds.count == model.layers.count ? kinds[index] : (index + 1) % 4 == 0 ? "full_attention" : ""
            if kind == "full_attention" {
                model.layers[index].attention?.headNorm = model.finalNorm
                model.layers[index].attention?.rotary = rotary
                model.layers[index].attention?.hasOutputGate = true
            } else {
                model.layers[index].attention = nil
                model.layers[index].recurrence = recurrence
            }
        }
        return model
    }

    private func gatedDelta(isMLX: Bool) throws(AIError) -> ModelDescription.GatedDelta {
        func size(_ name: String) throws(AIError) -> Int {
            let size = try need(count(name), name)
            // The kernels have room for that.
            guard size <= 4096 else { throw .malformed(path, "\(name) is \(size), more than 4096") }
            return size
        }
        let (keyHeads, keySize) = (try size("linear_num_key_heads"), try size("linear_key_head_dim"))
        let (valueHeads, valueSize) = (try size("linear_num_value_heads"), try size("linear_value_head_dim"))
        return ModelDescription.GatedDelta(
            keyHeads: keyHeads, valueHeads: valueHeads, keySize: keySize, valueSize: valueSize,
            convolution: .init(
                channels: 2 * keyHeads * keySize + valueHeads * valueSize,
                taps: try size("linear_conv_kernel_dim"), layout: isMLX ? .mlx : .torch),
            norm: .init(epsilon: Float(configuration.rmsNormEpsilon ?? 1e-6)))
    }
}
