/// Mixture-of-experts decoders.
extension TensorPlan {
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
        "llama4": llama4, "llama4_text": llama4,
    ]
}
