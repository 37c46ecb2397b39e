/// Decoders of the Llama family, whose layers are all alike.
extension TensorPlan {
    static let norms = """
        input_layernorm.weight h
        post_attention_layernorm.weight h
        """
    static let attention = """
        self_attn.q_proj.weight q h
        self_attn.k_proj.weight k h
        self_attn.v_proj.weight k h
        self_attn.o_proj.weight h q
        ~self_attn.rotary_emb.inv_freq _
        """
    static let headNorms = """
        self_attn.q_norm.weight d
        self_attn.k_norm.weight d
        """
    /// Norms over all heads at once.
    static let wideNorms = """
        self_attn.q_norm.weight q
        self_attn.k_norm.weight k
        """
    static let gated = """
        mlp.gate_proj.weight i h
        mlp.up_proj.weight i h
        mlp.down_proj.weight h i
        """
    private static let gatedBias = """
        mlp.gate_proj.bias i ?mlp_bias
        mlp.up_proj.bias i ?mlp_bias
        mlp.down_proj.bias h ?mlp_bias
        """
    private static let fused = """
        mlp.gate_up_proj.weight 2*i h
        mlp.down_proj.weight h i
        """
    private static let normPairs = """
        input_layernorm.* h
        post_attention_layernorm.* h
        """

    /// Biases of queries, keys and values, if the setting is on.
    static func biases(_ setting: String) -> String {
        """
        self_attn.q_proj.bias q ?\(setting)
        self_attn.k_proj.bias k ?\(setting)
        self_attn.v_proj.bias k ?\(setting)
        """
    }
    static func allBiases(_ setting: String) -> String {
        joined(biases(setting), "self_attn.o_proj.bias h ?\(setting)")
    }

    private static let llama = decoder(joined(norms, attention, allBiases("attention_bias"), gated, gatedBias))
    static let decoders: [String: TensorPlan] = [
        "ministral": decoder(joined(norms, attention, gated)),
        "glm": decoder(joined(norms, attention, biases("attention_bias"), fused)),
        "glm4": decoder(
            joined(
                norms, "post_self_attn_layernorm.weight h", "post_mlp_layernorm.weight h", attention,
                biases("attention_bias"), fused)),
        "seed_oss": decoder(
            joined(
                norms, attention, biases("attention_bias"), "self_attn.o_proj.bias h ?attention_out_bias", gated,
                gatedBias),
            ["attention_bias": 1]),
        "hunyuan_v1_dense": decoder(
            joined(
                norms, attention, "self_attn.query_layernorm.weight d", "self_attn.key_layernorm.weight d",
                allBiases("attention_bias"), gated)),
        "nemotron": decoder(
            joined(
                normPairs, attention, allBiases("attention_bias"), "mlp.up_proj.weight i h",
                "mlp.up_proj.bias i ?mlp_bias",
                "mlp.down_proj.weight h i", "mlp.down_proj.bias h ?mlp_bias"), norm: "norm.* h"),
    ]
}
