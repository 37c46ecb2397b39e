import HubCore
import ModelFormats

/// StableLM (https://arxiv.org/abs/2402.17834): Llama with layer norms of which a quarter of a head rotates; 12B has halves in
/// parallel behind one norm.
extension Architecture {
    static let stableLM = Architecture(
        "StableLM", ["stablelm"], gguf: ["stablelm"], classes: .decoder("StableLm")
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        model.setNorms(.init(kind: .layer(hasBias: true), epsilon: Float(settings.layerNormEpsilon ?? 1e-5)))
        // llama.cpp's converter always writes the setting; the norm tells.
        let isParallel =
            settings.isGGUF
            ? settings.stores("blk.0.ffn_norm.weight") == false : settings.flag("use_parallel_residual") ?? false
        if isParallel { model.placeNorms(.parallel(sharesNorm: true)) }
        let rotary = try settings.rotary(headSize: model.layers.first?.attention?.headSize ?? 0, share: 0.25)
        let hasBias = settings.has(bias: "use_qkv_bias", of: "attn_q")
        model.eachAttention { ($0.rotary, $0.hasInputBias) = (rotary, hasBias) }
        let hasHeadNorms = settings.stores("blk.0.attn_q_norm.weight") ?? false
        if settings.flag("qk_layernorm") == true || hasHeadNorms { settings.refuse("qk_layernorm") }
        return model
    }
}
