package import HubCore

extension ModelConfiguration {
    /// A GGUF file's metadata, translated to the names of `config.json`.
    /// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#llm
    ///
    /// Values out of range are skipped and recorded in ``faults``.
    ///
    /// - Parameter path: the file, for errors.
    package init(_ header: GGUFHeader, path: String) throws(AIError) {
        guard let architecture = header["general.architecture"]?.string, !architecture.isEmpty else {
            throw .malformed(path, "it has no general.architecture")
        }
        var members: [(key: String, value: JSON)] = [("model_type", .string(architecture))]
        let noted = FaultList()
        for (key, name) in Self.names {
            guard let value = header["\(architecture).\(key)"] else { continue }
            if let number = value.int {
                if number > 0 {
                    members.append((name, .int(number)))
                } else if number < 0 || Self.isNeeded(key, architecture) {
                    noted.faults.append("\(architecture).\(key) is \(number), not above 0")
                }
            } else if let numbers = value.array?.numbers, numbers.contains(where: { $0 != 0 }) {
                // One per layer; 0 if the layer has none.
                members.append((name, .array(numbers.filter { $0 != 0 }.map { .int($0) })))
            } else if value.int == nil, let number = value.double {
                members.append((name, .double(number)))
            } else if let flag = value.bool {
                members.append((name, .bool(flag)))
            } else if value.array?.numbers == nil {
                noted.faults.append("\(architecture).\(key) has the wrong type")
            }
        }
        let known = JSONObject(members)
        if known["vocab_size"] == nil, let tokens = header["tokenizer.ggml.tokens"]?.array {
            members.append(("vocab_size", .int(Int64(tokens.count))))
        }
        for (key, name) in [
            ("bos_token_id", "bos_token_id"), ("eos_token_id", "eos_token_id"),
            ("token_type_count", "type_vocab_size"),
        ] {
            guard let value = header["tokenizer.ggml.\(key)"] else { continue }
            if let number = value.int {
                members.append((name, .int(number)))
            } else if !value.isWhole {
                noted.faults.append("tokenizer.ggml.\(key) has the wrong type")
            }
        }
        members += Self.linearAttention(header, architecture)
        // Layers that guess further tokens count there.
        if let behind = header["\(architecture).nextn_predict_layers"]?.int, behind > 0,
            let place = members.firstIndex(where: { $0.key == "num_hidden_layers" }),
            let all = members[place].value.int, all > behind
        {
            members[place].value = .int(all - behind)
            members.append(("num_nextn_predict_layers", .int(behind)))
        }
        if let kinds = Self.layerKinds(header, architecture) {
            members.append(("layer_types", .array(kinds.map { .string($0) })))
        }
        if let scaling = Self.ropeScaling(header, architecture, noted) {
            members.append(("rope_scaling", .object(scaling)))
        }
        try self.init(.object(JSONObject(members)), path: path, noted: noted, isGGUF: true)
    }

    /// Whether a count must not be 0: a model may lack experts, windows, or (if recurrent) heads.
    private static func isNeeded(_ key: String, _ architecture: String) -> Bool {
        switch key {
        case "embedding_length", "block_count", "vocab_size", "context_length": true
        case "attention.head_count", "attention.head_count_kv", "attention.key_length":
            !ArchitectureTraits.recurrent.contains(architecture)
        default: false
        }
    }

    /// The members of `rope_scaling`; nil if there is none.
    private static func ropeScaling(_ header: GGUFHeader, _ architecture: String, _ noted: FaultList) -> JSONObject?
    {
        func read<Value>(_ key: String, _ reader: (GGUFValue) -> Value?) -> Value? {
            guard let value = header["\(architecture).rope.scaling.\(key)"] else { return nil }
            let found = reader(value)
            // One of them is also a setting beside rope_scaling, and was noted there.
            if found == nil { noted.note("\(architecture).rope.scaling.\(key) has the wrong type") }
            return found
        }
        var members: [(key: String, value: JSON)] = []
        if let type = read("type", \.string) { members.append(("rope_type", .string(type))) }
        for (key, name) in [
            ("factor", "factor"), ("attn_factor", "attention_factor"), ("yarn_beta_fast", "beta_fast"),
            ("yarn_beta_slow", "beta_slow"),
        ] {
            if let number = read(key, \.double) { members.append((name, .double(number))) }
        }
        if let positions = read("original_context_length", \.int), positions > 0 {
            members.append(("original_max_position_embeddings", .int(positions)))
        }
        // Both weights are the same in all files: what they make of the angles is 1.
        if let multiplier = read("yarn_log_multiplier", \.double) {
            members += [("mscale", .double(10 * multiplier)), ("mscale_all_dim", .double(10 * multiplier))]
        }
        return members.isEmpty ? nil : JSONObject(members)
    }

    /// The sizes of a gated delta rule, which GGUF calls by the names of Mamba's.
    private static func linearAttention(_ header: GGUFHeader, _ architecture: String) -> [(
        key: String, value: JSON
    )] {
        guard ArchitectureTraits.attentionInterval[architecture] != nil else { return [] }
        func number(_ key: String) -> Int64? {
            header["\(architecture).ssm.\(key)"]?.int.flatMap { $0 > 0 ? $0 : nil }
        }
        let (inner, heads) = (number("inner_size"), number("time_step_rank"))
        var width: Int64?
        if let inner, let heads, inner % heads == 0 { width = inner / heads }
        return [
            ("linear_num_key_heads", number("group_count")), ("linear_num_value_heads", heads),
            ("linear_key_head_dim", number("state_size")), ("linear_value_head_dim", width),
            ("linear_conv_kernel_dim", number("conv_kernel")),
        ].compactMap { name, number in number.map { (name, .int($0)) } }
    }

    /// Layers without key heads have no KV cache; where some have no feed-forward block, that is all others have. True
    /// means a layer with a window.
    private static func layerKinds(_ header: GGUFHeader, _ architecture: String) -> [String]? {
        func numbers(_ key: String) -> [Int64]? { header["\(architecture).\(key)"]?.array?.numbers }
        if let heads = numbers("attention.head_count_kv"), heads.contains(0) {
            let widths = numbers("feed_forward_length") ?? []
            let block = header["\(architecture).expert_count"]?.int ?? 0 > 0 ? "moe" : "mlp"
            return heads.indices.map { layer in
                if heads[layer] != 0 { return "full_attention" }
                let isBlock = widths.contains(0) && layer < widths.count && widths[layer] != 0
                return isBlock ? block : "linear_attention"
            }
        }
        return numbers("attention.sliding_window_pattern")?.map { $0 == 0 ? "full_attention" : "sliding_attention" }
    }

    private static let names: [(String, String)] = [
        ("embedding_length", "hidden_size"), ("block_count", "num_hidden_layers"),
        ("attention.head_count", "num_attention_heads"), ("attention.head_count_kv", "num_key_value_heads"),
        ("attention.key_length", "head_dim"), ("attention.key_length_swa", "head_dim_swa"),
        ("rope.dimension_count_swa", "rope_dimension_count_swa"),
        ("embedding_length_per_layer_input", "hidden_size_per_layer_input"),
        ("feed_forward_length", "intermediate_size"),
        ("vocab_size", "vocab_size"), ("context_length", "max_position_embeddings"),
        ("attention.layer_norm_epsilon", "layer_norm_eps"), ("rope.dimension_count", "rope_dimension_count"),
        ("attn_logit_softcapping", "attn_logit_softcapping"),
        ("final_logit_softcapping", "final_logit_softcapping"),
        ("attention.layer_norm_rms_epsilon", "rms_norm_eps"), ("rope.freq_base", "rope_theta"),
        ("rope.freq_base_swa", "rope_local_base_freq"),
        ("expert_count", "num_experts"), ("expert_used_count", "num_experts_per_tok"),
        ("attention.sliding_window", "sliding_window"), ("attention.kv_lora_rank", "kv_lora_rank"),
        ("attention.sliding_window_pattern", "sliding_window_pattern"),
        ("attention.causal", "is_causal"), ("pooling_type", "pooling_type"),
        // The rotated part of a compressed key; only read for latent attention.
        ("rope.dimension_count", "qk_rope_head_dim"), ("full_attention_interval", "full_attention_interval"),
        ("attention.shared_kv_layers", "num_kv_shared_layers"), ("attention.chunk_size", "attention_chunk_size"),
        // Specific to some architectures.
        ("use_parallel_residual", "use_parallel_residual"), ("logit_scale", "logit_scale"),
        ("attention.clamp_kqv", "clip_qkv"), ("attention.scale", "attention_multiplier"),
        ("attention.temperature_scale", "attn_temperature_scale"),
        ("rope.scaling.yarn_log_multiplier", "yarn_log_multiplier"),
        ("rope.scaling.finetuned", "rope_finetuned"), ("shortconv.l_cache", "conv_L_cache"),
        ("embedding_scale", "embedding_multiplier"), ("residual_scale", "residual_multiplier"),
        ("expert_feed_forward_length", "moe_intermediate_size"), ("expert_shared_count", "n_shared_experts"),
        ("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
        ("leading_dense_block_count", "first_k_dense_replace"),
        ("interleave_moe_layer_step", "interleave_moe_layer_step"), ("attention.q_lora_rank", "q_lora_rank"),
        ("expert_gating_func", "scoring_func"), ("expert_group_count", "n_group"),
        ("expert_group_used_count", "topk_group"), ("expert_weights_norm", "norm_topk_prob"),
        ("expert_weights_scale", "routed_scaling_factor"),
        ("attention.key_length_mla", "qk_head_dim"), ("attention.value_length_mla", "v_head_dim"),
        ("attention.value_length", "value_length"), ("ssm.conv_kernel", "conv_kernel"),
        ("ssm.inner_size", "inner_size"), ("ssm.state_size", "state_size"),
        ("ssm.time_step_rank", "time_step_rank"), ("ssm.group_count", "n_groups"),
        ("ssm.dt_b_c_rms", "ssm_dt_b_c_rms"), ("moe_latent_size", "moe_latent_size"),
    ]
}
