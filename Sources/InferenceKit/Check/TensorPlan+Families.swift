/// Families with names of their own: GPT, Falcon, T5, Mamba.
extension TensorPlan {
    static let transformers = mixtures.merging(families) { $1 }

    private static func t5(_ place: String, _ kind: String, _ number: Int) -> String {
        """
        layer.\(number).\(kind).q.weight q h \(place)
        layer.\(number).\(kind).k.weight q h \(place)
        layer.\(number).\(kind).v.weight q h \(place)
        layer.\(number).\(kind).o.weight h q \(place)
        layer.\(number).layer_norm.weight h \(place)
        """
    }
    private static func t5(_ place: String, feedForward number: Int) -> String {
        """
        layer.0.SelfAttention.relative_attention_bias.weight relative_attention_num_buckets n ?first \(place)
        layer.\(number).DenseReluDense.wi.weight i h !gated \(place)
        layer.\(number).DenseReluDense.wi_0.weight i h ?gated \(place)
        layer.\(number).DenseReluDense.wi_1.weight i h ?gated \(place)
        layer.\(number).DenseReluDense.wo.weight h i \(place)
        layer.\(number).layer_norm.weight h \(place)
        """
    }
    private static let t5 = TensorPlan(
        mark: "shared.weight",
        top: """
            shared.weight v h
            ~encoder.embed_tokens.weight v h
            ~decoder.embed_tokens.weight v h
            encoder.final_layer_norm.weight h
            decoder.final_layer_norm.weight h ?decoder
            ^lm_head.weight v h
            ~decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight _ _
            """,
        stacks: [
            Stack(
                name: "encoder.block.", count: "num_layers",
                lines: joined(t5("", "SelfAttention", 0), t5("", feedForward: 1))),
            Stack(
                name: "decoder.block.",
                lines: joined(
                    t5("?decoder", "SelfAttention", 0), t5("?decoder", "EncDecAttention", 1),
                    t5("?decoder", feedForward: 2))),
        ], defaults: ["relative_attention_num_buckets": 32])

    private static let families: [String: TensorPlan] = [
        "opt": TensorPlan(
            mark: "decoder.embed_tokens.weight", prefix: "model.",
            top: """
                decoder.embed_tokens.weight v word_embed_proj_dim|h
                decoder.embed_positions.weight p+2 h
                decoder.project_in.weight h word_embed_proj_dim ?projected
                decoder.project_out.weight word_embed_proj_dim h ?projected
                decoder.final_layer_norm.* h ?do_layer_norm_before !_remove_final_layer_norm
                ^lm_head.weight v word_embed_proj_dim|h
                """,
            stacks: [
                Stack(
                    name: "decoder.layers.",
                    lines: """
                        self_attn.q_proj.* h h
                        self_attn.k_proj.* h h
                        self_attn.v_proj.* h h
                        self_attn.out_proj.* h h
                        self_attn_layer_norm.* h
                        final_layer_norm.* h
                        fc1.* ffn_dim|i h
                        fc2.* h ffn_dim|i
                        """)
            ], defaults: ["do_layer_norm_before": 1]),
        "t5": t5, "mt5": t5,
    ]
}
