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
    private static let olmo2 = decoder(
        joined(
            "post_attention_layernorm.weight h", "post_feedforward_layernorm.weight h", attention, wideNorms,
            allBiases("attention_bias"), gated))
    /// Attention and feed-forward block in parallel, after one norm.
    private static let cohere = decoder(
        joined(
            "input_layernorm.weight h", attention, "self_attn.q_norm.weight n d ?use_qk_norm",
            "self_attn.k_norm.weight g d ?use_qk_norm", allBiases("attention_bias"), gated))

    static let decoders: [String: TensorPlan] = [
        "smollm3": llama, "granite": llama,
        "ministral": decoder(joined(norms, attention, gated)),
        "cohere": cohere, "cohere2": cohere,
        "olmo": decoder(joined(attention, allBiases("attention_bias"), gated), norm: ""),
        "olmo2": olmo2, "olmo3": olmo2,
        "exaone4": decoder(
            joined(
                "post_attention_layernorm.weight h", "post_feedforward_layernorm.weight h", attention, headNorms,
                gated)),
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
        "starcoder2": decoder(
            joined(
                normPairs, attention, allBiases("use_bias"), "mlp.c_fc.weight i h", "mlp.c_fc.bias i ?use_bias",
                "mlp.c_proj.weight h i", "mlp.c_proj.bias h ?use_bias"), norm: "norm.* h", ["use_bias": 1]),
        "nemotron": decoder(
            joined(
                normPairs, attention, allBiases("attention_bias"), "mlp.up_proj.weight i h",
                "mlp.up_proj.bias i ?mlp_bias",
                "mlp.down_proj.weight h i", "mlp.down_proj.bias h ?mlp_bias"), norm: "norm.* h"),
        "phi": decoder(
            """
            input_layernorm.* h
            self_attn.q_proj.* q h
            self_attn.k_proj.* k h
            self_attn.v_proj.* k h
            self_attn.dense.* h q
            self_attn.q_layernorm.* d ?qk_layernorm
            self_attn.k_layernorm.* d ?qk_layernorm
            mlp.fc1.* i h
            mlp.fc2.* h i
            ~self_attn.rotary_emb.inv_freq _
            """, norm: "final_layernorm.* h", head: "^lm_head.bias v"),
    ]
}
