import HubCore
import ModelFormats

/// Falcon (https://arxiv.org/abs/2311.16867): layer norms, plain feed-forward blocks, queries packed with the keys and values
/// that they share. 7B has halves in parallel behind one norm, 40B and 180B behind two, RW has ALiBi and halves one after
/// the other.
extension Architecture {
    static let falcon = Architecture(
        "Falcon", ["falcon"], gguf: ["falcon"], classes: [.generator("FalconForCausalLM"), .base("FalconModel")],
        names: .falcon, otherNames: [.wideFalcon], ggufTensors: .falconGGUF, otherGGUF: [.wideFalconGGUF]
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(
            inner: "ffn_hidden_size",
            hasBias: settings.flag("bias") ?? false, isGrouped: true)
        let isNew = settings.flag("new_decoder_architecture") ?? false
        var hasTwoNorms = isNew && settings.count("num_ln_in_parallel_attn") ?? 2 == 2
        if settings.isGGUF { hasTwoNorms = settings.stores("blk.0.attn_norm_2.weight") ?? true }
        if isNew || settings.flag("parallel_attn") ?? true { model.placeNorms(.parallel(sharesNorm: !hasTwoNorms)) }
        let activation = settings.activation(settings.text("activation"), default: .gelu)
        model.eachFeedForward { $0.activation = activation }
        if settings.flag("alibi") == true {
            // transformers rounds the slopes to bfloat16, and scales what they add like the rest of a score.
            let scale = model.layers.first?.attention?.scale ?? 1
            try settings.slope(&model) { bfloat($0) * scale }
        } else {
            let rotary = try settings.rotary(headSize: model.layers.first?.attention?.headSize ?? 0)
            model.eachAttention { $0.rotary = rotary }
        }
        model.head?.isTied = settings.isTied(default: true)
        return model
    }
}

/// A number in float32, rounded to the nearest of bfloat16.
private func bfloat(_ value: Float) -> Float {
    let bits = value.bitPattern
    return Float(bitPattern: (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF_0000)
}

extension TensorNames {
    fileprivate static let falcon = TensorNames(
        prefix: "transformer.", layer: "h.",
        stems: [
            .embedding: "word_embeddings", .finalNorm: "ln_f", .head: "lm_head", .attentionNorm: "input_layernorm",
            .query: "self_attention.query_key_value", .attentionOutput: "self_attention.dense",
            .feedForwardNorm: "post_attention_layernorm", .up: "mlp.dense_h_to_4h", .down: "mlp.dense_4h_to_h",
        ],
        packed: [[.query, .key, .value]], marks: [.query, .up, .attentionNorm], isPackedByHead: true)

    fileprivate static let wideFalcon = falcon.with([.attentionNorm: "ln_attn", .feedForwardNorm: "ln_mlp"])

    fileprivate static let falconGGUF: TensorNames = {
        var names = packedGGUF
        names.marks = [.query, .up, .attentionNorm, .feedForwardNorm]
        return names
    }()

    fileprivate static let wideFalconGGUF = falconGGUF.with([
        .attentionNorm: "attn_norm_2", .feedForwardNorm: "attn_norm",
    ])
}
