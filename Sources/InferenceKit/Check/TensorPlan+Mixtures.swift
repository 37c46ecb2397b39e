/// Mixture-of-experts decoders.
extension TensorPlan {
    /// Experts in separate tensors, or all of a layer in one, as MLX and transformers store them.
    private static func experts(
        _ place: String, gate: String, up: String, down: String, stacked: String, on condition: String = ""
    ) -> String {
        joined(
            """
            \(place)experts.#.\(gate).weight f h !@switch_mlp. !@experts.gate_up_proj \(condition)
            \(place)experts.#.\(up).weight f h !@switch_mlp. !@experts.gate_up_proj \(condition)
            \(place)experts.#.\(down).weight h f !@switch_mlp. !@experts.gate_up_proj \(condition)
            \(stacked)experts.gate_up_proj e 2*f h ?@experts.gate_up_proj \(condition)
            \(stacked)experts.down_proj e h f ?@experts.gate_up_proj \(condition)
            """, switched(place, condition))
    }

    /// MLX: all experts of a layer in one tensor.
    private static func switched(_ place: String, _ condition: String = "") -> String {
        """
        \(place)switch_mlp.gate_proj.weight e f h ?@switch_mlp. \(condition)
        \(place)switch_mlp.up_proj.weight e f h ?@switch_mlp. \(condition)
        \(place)switch_mlp.down_proj.weight e h f ?@switch_mlp. \(condition)
        """
    }

    private static let mixtral = experts("block_sparse_moe.", gate: "w1", up: "w3", down: "w2", stacked: "mlp.")
    private static let sparse = experts(
        "mlp.", gate: "gate_proj", up: "up_proj", down: "down_proj", stacked: "mlp.", on: "?sparse")

    /// The feed-forward block of layers without experts.
    private static let dense = """
        mlp.gate_proj.weight i h !sparse
        mlp.up_proj.weight i h !sparse
        mlp.down_proj.weight h i !sparse
        """
    private static let sharedExperts = """
        mlp.shared_experts.gate_proj.weight n_shared_experts*f h ?sparse ?n_shared_experts
        mlp.shared_experts.up_proj.weight n_shared_experts*f h ?sparse ?n_shared_experts
        mlp.shared_experts.down_proj.weight h n_shared_experts*f ?sparse ?n_shared_experts
        """

    /// Multi-head latent attention (https://arxiv.org/abs/2405.04434); MLX splits the key and value expansion.
    private static let latent = """
        self_attn.q_proj.weight n*qk_nope_head_dim+n*qk_rope_head_dim h !q_lora_rank
        self_attn.q_a_proj.weight q_lora_rank h ?q_lora_rank
        self_attn.q_a_proj.bias q_lora_rank ?q_lora_rank ?attention_bias
        self_attn.q_a_layernorm.weight q_lora_rank ?q_lora_rank
        self_attn.q_b_proj.weight n*qk_nope_head_dim+n*qk_rope_head_dim q_lora_rank ?q_lora_rank
        self_attn.kv_a_proj_with_mqa.weight kv_lora_rank+qk_rope_head_dim h
        self_attn.kv_a_proj_with_mqa.bias kv_lora_rank+qk_rope_head_dim ?attention_bias
        self_attn.kv_a_layernorm.weight kv_lora_rank
        self_attn.kv_b_proj.weight n*qk_nope_head_dim+n*v_head_dim kv_lora_rank !@self_attn.embed_q.
        self_attn.embed_q.weight n kv_lora_rank qk_nope_head_dim ?@self_attn.embed_q.
        self_attn.unembed_out.weight n v_head_dim kv_lora_rank ?@self_attn.embed_q.
        self_attn.o_proj.weight h n*v_head_dim
        self_attn.o_proj.bias h ?attention_bias
        ~self_attn.rotary_emb.inv_freq _
        """
    private static let routed = joined("mlp.gate.weight e h ?sparse", dense, sparse, sharedExperts)
    private static let corrected = "mlp.gate.e_score_correction_bias e ?sparse"
    private static let deepseek3 = decoder(joined(norms, latent, routed, corrected), ["first_k_dense_replace": 3])

    private static let llama4 = decoder(
        joined(
            norms, attention, allBiases("attention_bias"),
            """
            feed_forward.router.weight e h ?sparse
            feed_forward.shared_expert.gate_proj.weight i h ?sparse
            feed_forward.shared_expert.up_proj.weight i h ?sparse
            feed_forward.shared_expert.down_proj.weight h i ?sparse
            feed_forward.experts.gate_up_proj e h 2*i ?sparse !@experts.gate_proj. !@experts.0.
            feed_forward.experts.down_proj e i h ?sparse !@experts.gate_proj. !@experts.0.
            feed_forward.experts.gate_proj.weight e i h ?sparse ?@experts.gate_proj.
            feed_forward.experts.up_proj.weight e i h ?sparse ?@experts.gate_proj.
            feed_forward.experts.down_proj.weight e h i ?sparse ?@experts.gate_proj.
            feed_forward.experts.#.gate_proj.weight i h ?sparse ?@experts.0.
            feed_forward.experts.#.up_proj.weight i h ?sparse ?@experts.0.
            feed_forward.experts.#.down_proj.weight h i ?sparse ?@experts.0.
            feed_forward.gate_proj.weight intermediate_size_mlp h !sparse
            feed_forward.up_proj.weight intermediate_size_mlp h !sparse
            feed_forward.down_proj.weight h intermediate_size_mlp !sparse
            """))

    static let mixtures: [String: TensorPlan] = [
        "deepseek_v2": decoder(joined(norms, latent, routed), ["first_k_dense_replace": 0]),
        "deepseek_v3": deepseek3, "kimi_k2": deepseek3,
        "glm4_moe": decoder(
            joined(
                norms, attention, "self_attn.q_norm.weight d ?use_qk_norm",
                "self_attn.k_norm.weight d ?use_qk_norm",
                biases("attention_bias"), routed, corrected), ["first_k_dense_replace": 1]),
        "llama4": llama4, "llama4_text": llama4,
    ]
}
