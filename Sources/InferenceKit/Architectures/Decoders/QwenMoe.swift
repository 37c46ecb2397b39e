import HubCore
import ModelFormats

/// The mixtures of Qwen 1.5 and 2 (https://arxiv.org/abs/2407.10671) and 3 (https://arxiv.org/abs/2505.09388).
extension Architecture {
    static let qwen2Moe = Architecture(
        "Qwen 2 MoE", ["qwen2_moe"], gguf: ["qwen2moe"], classes: .decoder("Qwen2Moe")
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let hasBias = settings.flag("qkv_bias") ?? true
        model.eachAttention { $0.hasInputBias = hasBias }
        settings.slide(&model)
        var experts = try settings.experts(
            width: settings.expertWidth, .init(renormalizes: settings.flag("norm_topk_prob") ?? false))
        let told = settings.count("shared_expert_intermediate_size")
        let usual = settings.isGGUF ? settings.configuration.intermediateSize : nil
        experts.shared = .init(
            width: try settings.need(told ?? usual, "shared_expert_intermediate_size"), hasGate: true)
        model.mix(experts, where: settings.isSparse)
        return model
    }

    static let qwen3Moe = Architecture(
        "Qwen 3 MoE", ["qwen3_moe"], gguf: ["qwen3moe"], classes: .decoder("Qwen3Moe")
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let norm = model.finalNorm
        model.eachAttention { $0.headNorm = norm }
        settings.slide(&model)
        // GGUF does not say: there it is so.
        let renormalizes = settings.flag("norm_topk_prob") ?? settings.isGGUF
        let experts = try settings.experts(width: settings.expertWidth, .init(renormalizes: renormalizes))
        model.mix(experts, where: settings.isSparse)
        return model
    }
}
