import HubCore
import ModelFormats

/// Qwen 3.5: every fourth layer has gated attention, the others a gated delta rule (https://arxiv.org/abs/2412.06464).
extension Architecture {
    static let qwen35 = Architecture(
        "Qwen 3.5", ["qwen3_5", "qwen3_5_text"], gguf: ["qwen35"],
        classes: [.generator("Qwen3_5ForConditionalGeneration")] + .decoder("Qwen3_5") + [
            .base("Qwen3_5TextModel")
        ], names: .qwen35, ggufTensors: .qwen35GGUF
    ) { settings throws(AIError) in try settings.qwen35() }

    /// The same with a mixture of experts in each layer.
    static let qwen35Moe = Architecture(
        "Qwen 3.5 MoE", ["qwen3_5_moe", "qwen3_5_moe_text"], gguf: ["qwen35moe"],
        classes: [.generator("Qwen3_5MoeForConditionalGeneration")] + .decoder("Qwen3_5Moe") + [
            .base("Qwen3_5MoeTextModel")
        ], names: .qwen35, ggufTensors: .qwen35GGUF
    ) { settings throws(AIError) in
        var model = try settings.qwen35()
        model.mix(try settings.expertsBesideShared(renormalizes: true))
        return model
    }

    /// The model before it, whose matrices are packed.
    static let qwen3Next = Architecture(
        "Qwen 3 Next", ["qwen3_next"], gguf: [], classes: .decoder("Qwen3Next"), names: .qwen3Next
    ) { settings throws(AIError) in
        var model = try settings.qwen35(isPacked: true)
        let experts = try settings.expertsBesideShared(renormalizes: settings.flag("norm_topk_prob") ?? true)
        model.mix(experts, where: settings.isSparse)
        return model
    }
}

extension TensorNames {
    fileprivate static let qwen3Next = qwen35.with([
        .recurrentInput: "linear_attn.in_proj_qkvz", .recurrentBeta: "linear_attn.in_proj_ba",
    ])

    /// https://github.com/ggml-org/llama.cpp/blob/master/conversion/qwen.py
    fileprivate static let qwen35GGUF: TensorNames = {
        var names = gguf.with([
            .feedForwardNorm: "post_attention_norm", .recurrentInput: "attn_qkv", .recurrentGate: "attn_gate",
            .recurrentStep: "ssm_alpha", .recurrentBeta: "ssm_beta", .convolution: "ssm_conv1d",
            .recurrentRate: "ssm_a", .recurrentStepBias: "ssm_dt.bias", .recurrentNorm: "ssm_norm",
            .recurrentOutput: "ssm_out",
        ])
        names.plain.formUnion([.recurrentRate, .recurrentStepBias])
        names.packed = [[.query, .outputGate]]
        names.isPackedByHead = true
        return names
    }()

    fileprivate static let qwen35: TensorNames = {
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
    /// Experts, and one that every row goes through, with a gate.
    fileprivate mutating func expertsBesideShared(renormalizes: Bool) throws(AIError) -> ModelDescription.Experts {
        var experts = try experts(width: expertWidth, .init(renormalizes: renormalizes))
        let shared = try need(count("shared_expert_intermediate_size"), "shared_expert_intermediate_size")
        experts.shared = .init(width: shared, hasGate: true)
        return experts
    }

    /// - Parameter isPacked: whether matrices of the delta rule are one above the other.
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    fileprivate mutating func qwen35(isPacked: Bool = false) throws(AIError) -> ModelDescription {
        // The converters of MLX and of llama.cpp add the 1 to the norms.
        let isMLX = configuration.quantization?.isMLX == true
        var model = try decoder(normOffset: isMLX || isGGUF ? 0 : 1)
        if flag("attention_bias") == true { refuse("attention_bias") }
        if let named = configuration.activation, named != "silu" {
            refuse("activation", "\(named) of the convolution")
        }
        let headSize = model.layers.first?.attention?.headSize ?? 0
        let rotary = try rotary(headSize: headSize, share: 0.25)
        var delta = try gatedDelta(isMLX ? .mlx : isGGUF ? .plain : .torch)
        (delta.isPackedByKeyHead, delta.isTiled, delta.storesRates) = (isPacked, isGGUF, isGGUF)
        let kinds = configuration.layerKinds
        guard kinds.count == model.layers.count else {
            throw .malformed(path, "layer_types has \(kinds.count) kinds for \(model.layers.count) layers")
        }
        for (index, kind) in kinds.enumerated() {
            if kind == "full_attention" {
                model.layers[index].attention?.headNorm = model.finalNorm
                model.layers[index].attention?.rotary = rotary
                model.layers[index].attention?.hasOutputGate = true
            } else {
                model.layers[index].attention = nil
                model.layers[index].recurrence = .gatedDelta(delta)
            }
        }
        return model
    }

    private func gatedDelta(_ layout: ModelDescription.Convolution.Layout) throws(AIError)
        -> ModelDescription.GatedDelta
    {
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
                taps: try size("linear_conv_kernel_dim"), layout: layout),
            norm: .init(epsilon: Float(configuration.rmsNormEpsilon ?? 1e-6)))
    }
}
