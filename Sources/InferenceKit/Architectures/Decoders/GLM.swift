import HubCore
import ModelFormats

/// GLM-4 (https://arxiv.org/abs/2406.12793): half of a head rotates, in adjacent pairs; biases of queries, keys and values;
/// packed gates. The 0414 models have norms after each half, too.
extension Architecture {
    static let glm = Architecture(
        "GLM-4", ["glm"], gguf: ["chatglm"], classes: .decoder("Glm"), names: .glm, ggufTensors: .glmGGUF,
        otherGGUF: [.packedGlmGGUF]
    ) { settings throws(AIError) in try settings.glm() }

    static let glm4 = Architecture(
        "GLM-4-0414", ["glm4"], gguf: ["glm4"], classes: .decoder("Glm4"), names: .glm4, ggufTensors: .glmGGUF
    ) { settings throws(AIError) in
        var model = try settings.glm()
        model.placeNorms(.around)
        return model
    }
}

extension Settings {
    fileprivate mutating func glm() throws(AIError) -> ModelDescription {
        var model = try decoder()
        var rotary = try rotary(headSize: model.layers[0].attention?.headSize ?? 0, share: 0.5)
        rotary.isAdjacent = true
        let stored = [stores("blk.0.attn_q.bias"), stores("blk.0.attn_qkv.bias")].contains(true)
        let hasBias = isGGUF ? stored : flag("attention_bias") ?? true
        model.eachAttention { ($0.rotary, $0.hasInputBias, $0.hasOutputBias) = (rotary, hasBias, false) }
        model.eachFeedForward { $0.hasBias = false }
        return model
    }
}

extension TensorNames {
    fileprivate static let glm: TensorNames = {
        var names = llama.with([.gate: "mlp.gate_up_proj"])
        names.packed = [[.gate, .up]]
        return names
    }()

    fileprivate static let glm4 = glm.with([
        .attentionPostNorm: "post_self_attn_layernorm", .feedForwardPostNorm: "post_mlp_layernorm",
    ])

    fileprivate static let glmGGUF: TensorNames = {
        var names = gguf.with([.gate: "ffn_up"])
        names.packed = [[.gate, .up]]
        names.marks = [.query]
        return names
    }()

    fileprivate static let packedGlmGGUF: TensorNames = {
        var names = glmGGUF.with([.query: "attn_qkv"])
        names.packed += [[.query, .key, .value]]
        return names
    }()
}
