import HubCore
import ModelFormats
import Libc

/// HunYuan's dense models (https://github.com/Tencent-Hunyuan/Hunyuan-7B): Llama with norms of queries and keys after the
/// rotation.
extension Architecture {
    static let hunYuanDense = Architecture(
        "HunYuan (dense)", ["hunyuan_v1_dense"], gguf: ["hunyuan-dense"], classes: .decoder("HunYuanDenseV1"),
        names: .llama.with([.queryNorm: "self_attn.query_layernorm", .keyNorm: "self_attn.key_layernorm"])
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let norm = model.finalNorm
        let alpha = try settings.alpha()
        model.eachAttention {
            ($0.headNorm, $0.isNormedLast) = (norm, true)
            guard let alpha, let rotary = $0.rotary, case .dynamic = rotary.scaling else { return }
            // With it the base is larger whatever the length of a text.
            let size = Double($0.headSize)
            $0.rotary?.base = rotary.base * pow(alpha, size / (size - 2))
            $0.rotary?.scaling = .none
        }
        model.eachFeedForward { $0.hasBias = false }
        return model
    }
}

extension Settings {
    /// - Throws: ``ErrorCode/malformedModel`` for what is no factor.
    fileprivate func alpha() throws(AIError) -> Double? {
        let scope = object("rope_parameters") ?? object("rope_scaling")
        guard let alpha = scope?["alpha"]?.double, alpha != 0 else { return nil }
        guard alpha > 0, alpha.isFinite else { throw .malformed(path, "rope_scaling: alpha is \(alpha)") }
        return alpha
    }
}
