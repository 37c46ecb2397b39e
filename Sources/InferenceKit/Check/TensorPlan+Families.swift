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

    private static let mambaTop = """
        embeddings.weight v h
        norm_f.weight h
        ^lm_head.weight v h
        """

    /// The common parts of both Mamba versions.
    private static func backbone(_ lines: String, defaults: [String: Int]) -> TensorPlan {
        TensorPlan(
            mark: "embeddings.weight", prefix: "backbone.", top: mambaTop,
            stacks: [Stack(name: "layers.", lines: lines)], defaults: defaults)
    }

    private static let mamba = backbone(
        """
        norm.weight h
        mixer.A_log i|expand*h state_size
        mixer.D i|expand*h
        mixer.conv1d.weight i|expand*h _ _
        mixer.conv1d.bias i|expand*h ?use_conv_bias
        mixer.in_proj.weight 2*i|2*expand*h h
        mixer.in_proj.bias 2*i|2*expand*h ?use_bias
        mixer.x_proj.weight r+2*state_size i|expand*h
        mixer.dt_proj.* i|expand*h r
        mixer.out_proj.weight h i|expand*h
        mixer.out_proj.bias h ?use_bias
        """, defaults: ["expand": 2, "state_size": 16, "use_conv_bias": 1])
    private static let mamba2 = backbone(
        """
        norm.weight h
        mixer.A_log num_heads
        mixer.D num_heads
        mixer.dt_bias num_heads
        mixer.conv1d.weight expand*h+2*n_groups*state_size _ _
        mixer.conv1d.bias expand*h+2*n_groups*state_size ?use_conv_bias
        mixer.in_proj.weight 2*expand*h+2*n_groups*state_size+num_heads h
        mixer.in_proj.bias 2*expand*h+2*n_groups*state_size+num_heads ?use_bias
        mixer.norm.weight expand*h
        mixer.out_proj.weight h expand*h
        mixer.out_proj.bias h ?use_bias
        """, defaults: ["expand": 2, "state_size": 128, "n_groups": 8, "num_heads": 128, "use_conv_bias": 1])

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
        "mamba": mamba, "falcon_mamba": mamba, "mamba2": mamba2,
    ]
}
