import HubCore
import InferenceKit
import Support
import Testing

/// Settings of the families in ``DenseDecoders``: each that says how to compute changes the logits, and what does not run is
/// named.
@Suite struct DecoderSettingsTests {
    private func folder(_ model: String, _ key: String, _ value: JSON?) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: "micro/\(model)", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/\(model)/config.json").object)
        config[key] = value
        try folder.write("config.json", .object(config))
        return folder
    }

    @Test(arguments: [
        ("gpt-neox", "use_parallel_residual", false as JSON?), ("gpt-neox", "rotary_pct", 1),
        ("gptj", "rotary_dim", 16), ("phi", "partial_rotary_factor", 1), ("falcon-rw", "alibi", false),
        ("gpt-neo", "window_size", 200), ("gpt-bigcode", "scale_attn_weights", false),
        ("starcoder2", "sliding_window", nil), ("stablelm", "partial_rotary_factor", .double(0.5)),
        ("olmo", "clip_qkv", nil), ("olmo3", "sliding_window", 200), ("exaone4", "sliding_window", 200),
        ("cohere", "logit_scale", 1), ("cohere2", "sliding_window", 200), ("lfm2", "norm_eps", .double(0.1)),
        ("lfm2", "rope_theta", 1_000_000), ("lfm2-moe", "routed_scaling_factor", 1),
        ("lfm2-moe", "norm_topk_prob", false), ("granite", "embedding_multiplier", 1),
        ("granite", "residual_multiplier", 1), ("granite", "attention_multiplier", 1),
        ("granite", "logits_scaling", 1), ("granitemoe", "num_experts_per_tok", 1),
        ("granite4", "position_embedding_type", "nope"), ("smollm3", "no_rope_layers", .array([1, 1, 1, 1])),
        ("smollm3-windows", "sliding_window", 200), ("olmoe", "clip_qkv", nil), ("olmoe", "norm_topk_prob", true),
        ("phimoe", "router_jitter_noise", .double(0.01)), ("phimoe-long", "sliding_window", 200),
        ("glm", "partial_rotary_factor", 1), ("glm4", "partial_rotary_factor", 1),
        ("ernie4_5", "rope_theta", 10_000),
        ("ernie4_5-moe", "moe_k", 1), ("seed-oss", "rope_theta", 10_000), ("hunyuan", "rope_scaling", nil),
        ("nemotron", "hidden_act", "relu"), ("nemotron", "norm_eps", .double(0.5)),
        ("nemotron", "partial_rotary_factor", 1), ("ministral", "sliding_window", 200),
        ("ministral", "layer_types", .array(["sliding_attention", "sliding_attention"])),
        ("arcee", "hidden_act", "relu"), ("mamba2", "time_step_limit", .array([.double(0.5), 9])),
        ("mamba2", "time_step_limit", .array([0, .double(0.25)])), ("falcon_mamba", "mixer_rms_eps", 3),
        ("nemotron_h", "time_step_min", .double(0.5)), ("nemotron_h", "routed_scaling_factor", 3),
        ("nemotron_h", "mlp_hidden_act", "silu"), ("nemotron_h", "norm_topk_prob", false),
        ("deepseek_v2", "routed_scaling_factor", 3), ("deepseek_v3", "routed_scaling_factor", 1),
        ("deepseek_v3", "norm_topk_prob", false), ("kimi_k2", "routed_scaling_factor", .double(2.5)),
        ("kimi_k2", "rope_theta", 10_000),
        ("hunyuan-moe", "moe_topk", .array([1, 1])), ("hunyuan-moe", "rope_scaling", nil),
        ("falcon_h1", "embedding_multiplier", 1),
        ("falcon_h1", "lm_head_multiplier", 1), ("falcon_h1", "mlp_multipliers", nil),
        ("falcon_h1", "key_multiplier", 1), ("falcon_h1", "attention_in_multiplier", 1),
        ("falcon_h1", "attention_out_multiplier", 1), ("falcon_h1", "ssm_in_multiplier", 1),
        ("falcon_h1", "ssm_out_multiplier", 1), ("falcon_h1", "ssm_multipliers", nil),
        ("falcon_h1-normed", "mamba_norm_before_gate", true),
        ("granite4-mamba", "residual_multiplier", 1), ("jamba", "num_experts_per_tok", 1),
    ]) func eachMovesTheLogits(model: String, key: String, value: JSON?) async throws {
        let golden = try Fixtures.json("goldens/micro-\(model).json")
        let prompt = try #require(golden["prompts"]?.array?[0]["text"]?.string)
        let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
        let folder = try folder(model, key, value)
        defer { withExtendedLifetime(folder) {} }
        let changed = try await LanguageModel.open(folder: folder.path, options: ModelOptions(isExact: true))
        let logits = try await changed.logits(prompt: prompt)
        let most = zip(logits, expected).map { abs(Double($0) - $1) }.max() ?? 0
        #expect(most > 0.01, "\(most)")
    }

    /// A list of numbers says which layers have experts, with the number of the first that have none, or alone.
    @Test(arguments: [[0, 1], [1, 1]]) func aListSaysWhichLayersHaveExperts(flags: [Int64]) async throws {
        var config = try #require(try Fixtures.json("micro/kimi_k2/config.json").object)
        config["moe_layer_freq"] = .array(flags.map { .int($0) })
        if flags[0] == 0 { config["first_k_dense_replace"] = nil }
        let folder = try TemporaryFolder(linking: "micro/kimi_k2", except: ["config.json"])
        try folder.write("config.json", .object(config))
        let model = try await LanguageModel.open(folder: folder.path, options: ModelOptions(isExact: true))
        let golden = try Fixtures.json("goldens/micro-kimi_k2.json")
        let logits = try await model.logits(prompt: try #require(golden["prompts"]?.array?[0]["text"]?.string))
        let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
        #expect(zip(logits, expected).allSatisfy { abs(Double($0) - $1) < 2e-4 })
    }

    /// Queries that grow with the position.
    @Test func theTemperatureMovesTheLogits() async throws {
        let golden = try Fixtures.json("goldens/micro-ministral3.json")
        let prompt = try #require(golden["prompts"]?.array?[0]["text"]?.string)
        let expected = try #require(golden["logits"]?["values"]?.array).compactMap(\.double)
        var rope = try #require(try Fixtures.json("micro/ministral3/config.json")["rope_parameters"]?.object)
        rope["llama_4_scaling_beta"] = 0
        let folder = try folder("ministral3", "rope_parameters", .object(rope))
        defer { withExtendedLifetime(folder) {} }
        let model = try await LanguageModel.open(folder: folder.path, options: ModelOptions(isExact: true))
        let logits = try await model.logits(prompt: prompt)
        #expect(zip(logits, expected).contains { abs(Double($0) - $1) > 0.01 })
    }

    @Test(arguments: [
        (
            "bloom", "apply_residual_connection_post_layernorm", true as JSON,
            "apply_residual_connection_post_layernorm"
        ),
        ("mpt", "no_bias", false, "no_bias false"),
        ("mpt", "attn_config", .object(["attn_type": "multiquery_attention"]), "attn_type multiquery_attention"),
        ("falcon_h1", "attention_bias", true, "attention_bias"),
        ("granite4", "position_embedding_type", "alibi", "position_embedding_type alibi"),
        ("phimoe", "num_experts_per_tok", 3, "num_experts_per_tok 3"),
        ("hunyuan-moe", "use_cla", true, "use_cla true"),
        ("hunyuan-moe", "use_mixed_mlp_moe", false, "use_mixed_mlp_moe false"),
        ("hunyuan-moe", "moe_layer_num_skipped", 1, "moe_layer_num_skipped 1"),
        ("kimi_k2", "moe_layer_freq", 2, "moe_layer_freq 2"),
        ("kimi_k2", "moe_layer_freq", .array([0, 2]), "moe_layer_freq 2"),
        ("glm4_moe_lite", "mlp_layer_types", .array(["dense", "sparse", "thick"]), "mlp_layer_types thick"),
    ]) func whatDoesNotRunIsNamed(model: String, key: String, value: JSON, name: String) async throws {
        let folder = try folder(model, key, value)
        defer { withExtendedLifetime(folder) {} }
        let error = try await #require(throws: AIError.self) {
            _ = try await LanguageModel.open(folder: folder.path)
        }
        #expect(error.code == .unsupportedModel && error.message.contains(name), "\(error.message)")
    }

    /// As GGUF it has Granite 4's name; its converter permutes rows of whole heads, of which half rotates.
    @Test func aBambaInGGUFIsNamed() async throws {
        let folder = try TemporaryFolder()
        let sizes = [
            "embedding_length": 32, "block_count": 2, "context_length": 64, "vocab_size": 64,
            "feed_forward_length": 48,
            "attention.head_count": 4, "attention.key_length": 8, "rope.dimension_count": 4, "ssm.conv_kernel": 4,
            "ssm.inner_size": 64, "ssm.state_size": 8, "ssm.time_step_rank": 8, "ssm.group_count": 2,
        ]
        let file = GGUFBytes("granitehybrid", sizes, lists: ["attention.head_count_kv": [0, 2]])
        try folder.write("m.gguf", file.bytes)
        let error = try await #require(throws: AIError.self) {
            _ = try await LanguageModel.open(folder: folder("m.gguf"))
        }
        #expect(
            error.code == .unsupportedModel && error.message.contains("a Bamba whose heads rotate in part"),
            "\(error.message)")
    }

    @Test(arguments: [
        ("smollm3", "no_rope_layers", .array([1]) as JSON, "no_rope_layers is not a list of 4 numbers"),
        ("lfm2", "conv_L_cache", 9, "a convolution of 9 positions"),
        ("granite", "logits_scaling", 0, "logits_scaling is 0"),
        ("ernie4_5-moe", "moe_num_shared_experts", -1, "moe_num_shared_experts is not a whole number from 0"),
        ("hunyuan", "rope_scaling", .object(["type": "dynamic", "factor": 1, "alpha": -1]), "alpha is -1"),
        ("falcon_h1", "ssm_multipliers", .array([1, 2]), "ssm_multipliers is not 5 numbers"),
        ("falcon_h1", "key_multiplier", 0, "key_multiplier is 0"),
        ("kimi_k2", "moe_layer_freq", .array([1]), "moe_layer_freq has 1 layers"),
        ("hunyuan-moe", "moe_intermediate_size", .array([24]), "moe_intermediate_size has no layer 1"),
    ]) func whatCannotBeIsRefused(model: String, key: String, value: JSON, name: String) async throws {
        let folder = try folder(model, key, value)
        defer { withExtendedLifetime(folder) {} }
        let error = try await #require(throws: AIError.self) {
            _ = try await LanguageModel.open(folder: folder.path)
        }
        #expect(error.code == .malformedModel && error.message.contains(name), "\(error.message)")
    }
}
