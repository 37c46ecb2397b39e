import HubCore
import ModelFormats

/// GPT-J (https://github.com/kingoflolz/mesh-transformer-jax): halves in parallel behind one norm, the first `rotary_dim`
/// coordinates of a head rotate in adjacent pairs, biases but not in attention.
extension Architecture {
    static let gptJ = Architecture(
        "GPT-J", ["gptj"], gguf: [], classes: [.generator("GPTJForCausalLM"), .base("GPTJModel")], names: .gptJ
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(inner: "n_inner", activation: .geluTanh)
        model.placeNorms(.parallel(sharesNorm: true))
        let headSize = model.layers.first?.attention?.headSize ?? 0
        let rotated = settings.count("rotary_dim") ?? min(64, headSize)
        var rotary = try settings.rotary(headSize: headSize, share: Double(rotated) / Double(headSize))
        rotary.isAdjacent = true
        model.eachAttention {
            $0.rotary = rotary
            ($0.hasInputBias, $0.hasOutputBias) = (false, false)
        }
        model.head?.hasBias = true
        return model
    }
}

extension TensorNames {
    fileprivate static let gptJ = TensorNames(
        prefix: "transformer.", layer: "h.",
        stems: [
            .embedding: "wte", .finalNorm: "ln_f", .head: "lm_head", .attentionNorm: "ln_1", .query: "attn.q_proj",
            .key: "attn.k_proj", .value: "attn.v_proj", .attentionOutput: "attn.out_proj", .up: "mlp.fc_in",
            .down: "mlp.fc_out",
        ], ignored: ["attn.bias", "attn.masked_bias", "attn.embed_positions"])
}
