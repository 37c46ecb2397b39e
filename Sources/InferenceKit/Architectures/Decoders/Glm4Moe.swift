import HubCore
import ModelFormats

/// GLM 4.5 and 4.6 (https://arxiv.org/abs/2508.06471), and MiniMax M2: DeepSeek's routing beside usual attention, of whose
/// heads a part rotates.
extension Architecture {
    static let glm4Moe = Architecture(
        "GLM 4.5", ["glm4_moe"], gguf: ["glm4moe"], classes: .decoder("Glm4Moe"), names: .corrected,
        ggufTensors: .correctedGGUF.with([.feedForwardNorm: "post_attention_norm"])
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let isNormed = settings.flag("use_qk_norm") ?? settings.stores("blk.0.attn_q_norm.weight") ?? false
        let rotary = try settings.rotary(headSize: model.layers[0].attention?.headSize ?? 0, share: 0.5)
        let norm = model.finalNorm
        model.eachAttention {
            ($0.rotary, $0.headNorm, $0.hasOutputBias) = (rotary, isNormed ? norm : nil, false)
        }
        let routing =
            settings.isGGUF
            ? try settings.storedRouting(usual: 2) : try settings.correctedRouting(factor: 1, groups: 1)
        let experts = try settings.experts(shared: "n_shared_experts", routing)
        let isSparse = try settings.sparseLayers(model.layers.count, dense: 1)
        model.mix(experts) { isSparse[$0] }
        return model
    }

    static let miniMaxM2 = Architecture(
        "MiniMax M2", ["minimax_m2"], gguf: ["minimax-m2"], classes: .decoder("MiniMaxM2"), names: .miniMaxM2,
        ggufTensors: .correctedGGUF
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let headSize = model.layers[0].attention?.headSize ?? 1
        let share = Double(settings.count("rotary_dim") ?? headSize) / Double(headSize)
        let rotary = try settings.rotary(headSize: headSize, share: share)
        let norm = model.finalNorm
        model.eachAttention { ($0.rotary, $0.headNorm, $0.headNormSpan) = (rotary, norm, .width) }
        settings.expect("scoring_func", "sigmoid")
        let width = settings.count("moe_intermediate_size") ?? settings.configuration.intermediateSize
        model.mix(
            try settings.experts(
                width: settings.isGGUF ? width : settings.configuration.intermediateSize,
                .init(scores: .sigmoid, hasChoiceBias: true, renormalizes: true)))
        return model
    }
}

extension TensorNames {
    fileprivate static let miniMaxM2: TensorNames = {
        var names = mixtral
        names.plainBiases[.choiceBias] = "block_sparse_moe.e_score_correction_bias"
        return names
    }()
}
