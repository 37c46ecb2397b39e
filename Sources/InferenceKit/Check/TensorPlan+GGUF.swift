/// The tensors that llama.cpp loads, with GGUF names.
/// https://github.com/ggml-org/llama.cpp/blob/master/src/llama-model.cpp (`load_tensors`)
extension TensorPlan {
    private static func file(
        _ layer: String, norm: String = "output_norm.weight h", top: String = "", _ defaults: [String: Int] = [:]
    ) -> TensorPlan {
        TensorPlan(
            mark: "",
            // Without a head the embedding is used.
            top: joined("token_embd.weight v h", norm, "~output.weight v h", top),
            stacks: [Stack(name: "blk.", lines: layer)], defaults: defaults)
    }

    /// Queries, keys and values are one tensor or three, depending on the converter; some models have biases.
    private static let three = """
        attn_q.weight q h !@.attn_qkv.
        attn_k.weight k h !@.attn_qkv.
        attn_v.weight k h !@.attn_qkv.
        attn_qkv.weight q+2*k h ?@.attn_qkv.
        ~attn_qkv.bias q+2*k
        attn_output.weight h q
        ~attn_output.bias h
        """
    private static let attention3 = joined(three, "~attn_q.bias q", "~attn_k.bias k", "~attn_v.bias k")
    private static let gated3 = """
        ffn_gate.weight i h !sparse
        ffn_up.weight i h !sparse
        ffn_down.weight h i !sparse
        ~ffn_gate.bias i
        ~ffn_up.bias i
        ~ffn_down.bias h
        """
    /// All experts of a layer are one tensor; before March 2024 each had its own.
    private static func experts3(_ side: String = "moe_intermediate_size") -> String {
        """
        ffn_gate_inp.weight e h ?sparse
        ffn_gate_exps.weight e \(side) h ?sparse !@.ffn_gate.0.
        ffn_up_exps.weight e \(side) h ?sparse !@.ffn_gate.0.
        ffn_down_exps.weight e h \(side) ?sparse !@.ffn_gate.0.
        ffn_gate.#.weight \(side) h ?sparse ?@.ffn_gate.0.
        ffn_up.#.weight \(side) h ?sparse ?@.ffn_gate.0.
        ffn_down.#.weight h \(side) ?sparse ?@.ffn_gate.0.
        """
    }
    private static func shared3(_ side: String) -> String {
        """
        ffn_gate_shexp.weight \(side) h ?sparse
        ffn_up_shexp.weight \(side) h ?sparse
        ffn_down_shexp.weight h \(side) ?sparse
        """
    }
    private static let norms3 = joined("attn_norm.weight h", "ffn_norm.weight h")
    private static let factors = joined(
        "~rope_freqs.weight _", "~rope_factors_long.weight _", "~rope_factors_short.weight _")

    static let gguf: [String: TensorPlan] = [
        "llama4": file(
            joined(norms3, attention3, gated3, experts3(), shared3("moe_intermediate_size")), top: factors)
    ]

    /// The GGUF name of a `model_type`: in most cases the same without underscores.
    static func ggufName(of modelType: String) -> String? {
        if let name = otherNames[modelType] { return name }
        let plain = modelType.filter { $0 != "_" }
        return gguf.keys.first { $0 == modelType || $0.filter { $0 != "-" } == plain }
    }

    /// The names that differ by more.
    private static let otherNames = [
        "mixtral": "llama", "llama4_text": "llama4",
    ]
}
