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
        var model = try settings.plainDecoder(inner: "n_inner", activation: .geluTanh, isGrouped: true)
        model.embedding.positions = model.maxPositions
        model.head?.isTied = settings.isTied(default: true)
        let hasOneKey = settings.flag("multi_query") ?? true
        let isGGUF = settings.isGGUF
        let isScaled = settings.flag("scale_attn_weights") ?? true
        model.eachAttention {
            // GGUF says the number itself.
            if !isGGUF { $0.kvHeads = hasOneKey ? 1 : $0.heads }
            if !isScaled { $0.scale = 1 }
        }
        return model
    }

    static let starCoder2 = Architecture(
        "StarCoder 2", ["starcoder2"], gguf: ["starcoder2"],
        classes: [.generator("Starcoder2ForCausalLM"), .base("Starcoder2Model")], names: .starCoder2
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(
            activation: .geluTanh, hasBias: settings.flag("use_bias") ?? true, isGrouped: true)
        // llama.cpp takes each bias as it finds it.
        func has(_ tensor: String) -> Bool? { settings.isGGUF ? settings.stores("blk.0.\(tensor).bias") : nil }
        let (input, output, up, down) = (has("attn_q"), has("attn_output"), has("ffn_up"), has("ffn_down"))
        model.eachAttention {
            ($0.hasInputBias, $0.hasOutputBias) = (input ?? $0.hasInputBias, output ?? $0.hasOutputBias)
        }
        model.eachFeedForward {
            ($0.hasBias, $0.hasOutputBias) = (up ?? $0.hasBias, down ?? $0.hasBias)
        }
        let rotary = try settings.rotary(headSize: model.layers.first?.attention?.headSize ?? 0)
        // llama.cpp knows no window here.
        let window = settings.isGGUF ? nil : settings.window()
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
