import HubCore
import ModelFormats
import Libc

/// HunYuan's dense models (https://github.com/Tencent-Hunyuan/Hunyuan-7B): Llama with norms of queries and keys after the
/// rotation; and its mixtures (https://github.com/Tencent-Hunyuan/Hunyuan-A13B), which have a shared expert as wide as a block.
extension Architecture {
    static let hunYuanDense = Architecture(
        "HunYuan (dense)", ["hunyuan_v1_dense"], gguf: ["hunyuan-dense"], classes: .decoder("HunYuanDenseV1"),
        names: .hunYuan
    ) { settings throws(AIError) in try settings.hunYuan() }

    static let hunYuanMoe = Architecture(
        "HunYuan (MoE)", ["hunyuan_v1_moe"], gguf: ["hunyuan-moe"], classes: .decoder("HunYuanMoEV1"),
        names: .hunYuan
    ) { settings throws(AIError) in
        var model = try settings.hunYuan()
        for (key, usual) in [("use_cla", false), ("use_mixed_mlp_moe", true), ("use_qk_norm", true)]
        where settings.flag(key) ?? usual != usual { settings.refuse(key, "\(!usual)") }
        if let dense = settings.countIfAny("moe_layer_num_skipped") {
            settings.refuse("moe_layer_num_skipped", "\(dense)")
        }
        let width = try settings.need(settings.configuration.intermediateSize, "intermediate_size")
        let usual = try settings.experts(width: width, .init(renormalizes: true))
        for layer in model.layers.indices {
            var experts = usual
            experts.used = try settings.listed("moe_topk", layer) ?? usual.used
            experts.width = try settings.listed("moe_intermediate_size", layer) ?? width
            let shared = width * (try settings.listed("num_shared_expert", layer) ?? 1)
            experts.shared = .init(width: settings.count("shared_expert_intermediate_size") ?? shared)
            (model.layers[layer].feedForward, model.layers[layer].experts) = (nil, experts)
        }
        return model
    }
}

extension TensorNames {
    fileprivate static let hunYuan = llama.with([
        .queryNorm: "self_attn.query_layernorm", .keyNorm: "self_attn.key_layernorm", .router: "mlp.gate.wg",
        .sharedGate: "mlp.shared_mlp.gate_proj", .sharedUp: "mlp.shared_mlp.up_proj",
        .sharedDown: "mlp.shared_mlp.down_proj",
    ])
}

extension Settings {
    fileprivate mutating func hunYuan() throws(AIError) -> ModelDescription {
        var model = try decoder()
        let norm = model.finalNorm
        let alpha = try alpha()
        model.eachAttention {
            ($0.headNorm, $0.isNormedLast) = (norm, true)
            guard let alpha, let rotary = $0.rotary, case .dynamic = rotary.scaling else { return }
            // With it the base is larger whatever the length of a text.
            let size = Double($0.headSize)
            $0.rotary?.base = rotary.base * pow(alpha, size / (size - 2))
            $0.rotary?.scaling = .none
        }
        model.eachFeedForward { $0.hasBias = false }
        return model
    }

    /// - Throws: ``ErrorCode/malformedModel`` for what is no factor.
    fileprivate func alpha() throws(AIError) -> Double? {
        guard let alpha = rope.number("alpha"), alpha != 0 else { return nil }
        guard alpha > 0 else { throw .malformed(path, "rope_scaling: alpha is \(alpha)") }
        return alpha
    }
}
