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
    static let gated = """
        mlp.gate_proj.weight i h
        mlp.up_proj.weight i h
        mlp.down_proj.weight h i
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

}
