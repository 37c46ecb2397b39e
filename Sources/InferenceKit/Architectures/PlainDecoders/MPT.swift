import HubCore
import ModelFormats

/// MPT (https://www.databricks.com/blog/mpt-7b): ALiBi, layer norms and matrices without biases.
extension Architecture {
    static let mpt = Architecture(
        "MPT", ["mpt"], gguf: [],
        // The second is the authors' own.
        classes: [.generator("MptForCausalLM"), .generator("MPTForCausalLM"), .base("MptModel")], names: .mpt
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(inner: nil, hasBias: false)
        model.setNorms(.init(kind: .layer(hasBias: false), epsilon: model.layers[0].norm.epsilon))
        model.head?.isTied = settings.isTied(default: true)
        if let type = settings.scope("attn_config")?.text("attn_type"), type != "multihead_attention" {
            settings.refuse("attn_type", type)
        }
        for (key, usual) in [("no_bias", true)] where settings.flag(key) == !usual {
            settings.refuse(key, "\(!usual)")
        }
        let attention = settings.scope("attn_config")
        for (key, usual) in [("alibi", true), ("qk_ln", false), ("prefix_lm", false)]
        where attention?.flag(key) == !usual {
            settings.refuse(key, "\(!usual)")
        }
        let (limit, scale) = (attention?.positive("clip_qkv"), attention?.positive("softmax_scale"))
        model.eachAttention {
            $0.limit = limit.map { Float($0) }
            if let scale { $0.scale = Float(scale) }
        }
        try settings.slope(&model)
        return model
    }
}

extension TensorNames {
    fileprivate static let mpt = TensorNames(
        prefix: "transformer.", layer: "blocks.",
        stems: [
            .embedding: "wte", .finalNorm: "norm_f", .head: "lm_head", .attentionNorm: "norm_1",
            .query: "attn.Wqkv", .attentionOutput: "attn.out_proj", .feedForwardNorm: "norm_2", .up: "ffn.up_proj",
            .down: "ffn.down_proj",
        ], packed: [[.query, .key, .value]])
}
