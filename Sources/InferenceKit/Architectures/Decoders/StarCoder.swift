import HubCore
import ModelFormats

/// StarCoder 1 (https://arxiv.org/abs/2305.06161): GPT-2 with one head of keys and values. 2 (https://arxiv.org/abs/2402.19173):
/// rotary positions, groups, layer norms and a plain feed-forward block with biases.
extension Architecture {
    static let starCoder = Architecture(
        "StarCoder 1", ["gpt_bigcode"], gguf: ["starcoder"],
        classes: [.generator("GPTBigCodeForCausalLM"), .base("GPTBigCodeModel")], names: .starCoder,
        ggufTensors: .packedGGUF
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(inner: "n_inner", activation: .geluTanh)
        model.embedding.positions = model.maxPositions
        model.head?.isTied = settings.isTied(default: true)
        let hasOneKey = settings.isGGUF ? false : settings.flag("multi_query") ?? true
        let isScaled = settings.flag("scale_attn_weights") ?? true
        model.eachAttention {
            if hasOneKey { $0.kvHeads = 1 }
            if !isScaled { $0.scale = 1 }
        }
        return model
    }

    static let starCoder2 = Architecture(
        "StarCoder 2", ["starcoder2"], gguf: ["starcoder2"],
        classes: [.generator("Starcoder2ForCausalLM"), .base("Starcoder2Model")], names: .starCoder2
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(
            activation: .geluTanh,
            hasBias: settings.isGGUF
                ? settings.stores("blk.0.ffn_up.bias") ?? true : settings.flag("use_bias") ?? true)
        let rotary = try settings.rotary(headSize: model.layers.first?.attention?.headSize ?? 0)
        // llama.cpp knows no window here.
        let window = settings.isGGUF ? nil : settings.count("sliding_window")
        model.eachAttention { ($0.rotary, $0.window) = (rotary, window) }
        model.head?.isTied = settings.isTied(default: true)
        return model
    }
}

extension TensorNames {
    fileprivate static let starCoder = TensorNames(
        prefix: "transformer.", layer: "h.",
        stems: [
            .embedding: "wte", .positions: "wpe", .finalNorm: "ln_f", .head: "lm_head", .attentionNorm: "ln_1",
            .query: "attn.c_attn", .attentionOutput: "attn.c_proj", .feedForwardNorm: "ln_2", .up: "mlp.c_fc",
            .down: "mlp.c_proj",
        ],
        packed: [[.query, .key, .value]], isPackedByHead: true, ignored: ["attn.bias", "attn.masked_bias"])

    fileprivate static let starCoder2 = llama.with([.up: "mlp.c_fc", .down: "mlp.c_proj"])
}
