import HubCore
import InferenceKit
import Support
import Testing

/// Settings of Gemma 3n and 4 that cannot be right, or that do not run yet.
@Suite struct GemmaSettingsTests {
    private func open(_ model: String, _ key: String, _ value: JSON?) async throws -> AIError {
        let folder = try TemporaryFolder(linking: "micro/\(model)", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/\(model)/config.json").object)
        config[key] = value
        try folder.write("config.json", .object(config))
        defer { withExtendedLifetime(folder) {} }
        return try await #require(throws: AIError.self) { _ = try await LanguageModel.open(folder: folder.path) }
    }

    @Test(arguments: [
        ("gemma4-large", "num_kv_shared_layers", 4 as JSON?, "num_kv_shared_layers is 4"),
        ("gemma4-large", "num_kv_shared_layers", 3, "leaves no layer of the kind full_attention"),
        ("gemma4-large", "per_layer_config", .object(["3": .object(["head_dim": 0])]), "head_dim of layer 3"),
        (
            "gemma4-large", "per_layer_config", .object(["3": .object(["num_key_value_heads": 3])]),
            "3 key-value heads"
        ),
        ("gemma4-large", "per_layer_config", nil, "shape"),
        ("gemma4-large", "attention_k_eq_v", false, "v_proj"),
        ("gemma4-large", "hidden_size_per_layer_input", 8, "embed_tokens_per_layer"),
        (
            "gemma4-large", "hidden_size_per_layer_input", .double(1e300),
            "hidden_size_per_layer_input is not a whole number from 0"
        ),
        ("gemma4-mixture", "top_k_experts", 9, "9 experts of 8"),
        ("gemma4-mixture", "num_experts", 7, "shape"),
        ("gemma3n", "vocab_size_per_layer_input", 300, "shape"),
        ("gemma3n", "activation_sparsity_pattern", .array([.double(0.5)]), "activation_sparsity_pattern"),
        ("gemma3n", "activation_sparsity_pattern", .array([1, 0, 0, 0, 0, 0]), "activation_sparsity_pattern"),
        ("gemma3n", "intermediate_size", .array([48, 48]), "intermediate_size has no layer 2"),
        ("gemma3n", "altup_num_inputs", 3, "modality_router"),
        ("gemma3n", "laurel_rank", 9, "laurel"),
    ]) func whatCannotBeIsRefused(model: String, key: String, value: JSON?, name: String) async throws {
        let error = try await open(model, key, value)
        #expect(error.message.contains(name), "\(error.message)")
    }

    @Test(arguments: [
        ("gemma4-large", "use_bidirectional_attention", "all" as JSON), ("gemma3n", "altup_active_idx", 1),
        ("gemma3n", "altup_num_inputs", 9),
    ]) func whatDoesNotRunIsNamed(model: String, key: String, value: JSON) async throws {
        let error = try await open(model, key, value)
        #expect(error.code == .unsupportedModel && error.message.contains(key), "\(error.message)")
    }
}
