import HubCore
import ModelFormats

/// GPT-NeoX (https://arxiv.org/abs/2204.06745) and Pythia (https://arxiv.org/abs/2304.01373): halves in parallel with a norm
/// each, a quarter of a head rotates, biases.
extension Architecture {
    static let gptNeoX = Architecture(
        "GPT-NeoX", ["gpt_neox"], gguf: ["gptneox"],
        classes: [.generator("GPTNeoXForCausalLM"), .base("GPTNeoXModel")], names: .gptNeoX,
        ggufTensors: .packedGGUF
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder()
        if settings.flag("use_parallel_residual") ?? true { model.placeNorms(.parallel(sharesNorm: false)) }
        let rotary = try settings.rotary(
            headSize: model.layers.first?.attention?.headSize ?? 0,
            base: settings.positive("rotary_emb_base") ?? 10_000,
            share: settings.number("rotary_pct") ?? 0.25)
        let hasBias = settings.flag("attention_bias") ?? true
        model.eachAttention {
            $0.rotary = rotary
            ($0.hasInputBias, $0.hasOutputBias) = (hasBias, hasBias)
        }
        return model
    }
}

extension TensorNames {
    fileprivate static let gptNeoX = TensorNames(
        prefix: "gpt_neox.", layer: "layers.",
        stems: [
            .embedding: "embed_in", .finalNorm: "final_layer_norm", .head: "embed_out",
            .attentionNorm: "input_layernorm", .query: "attention.query_key_value",
            .attentionOutput: "attention.dense", .feedForwardNorm: "post_attention_layernorm",
            .up: "mlp.dense_h_to_4h", .down: "mlp.dense_4h_to_h",
        ],
        packed: [[.query, .key, .value]], isPackedByHead: true,
        ignored: ["attention.bias", "attention.masked_bias", "rotary_emb.inv_freq"])
}
