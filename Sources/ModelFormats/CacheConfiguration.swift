import HubCore

/// What attention keeps of each position, as `config.json` says.
package struct CacheConfiguration: Sendable, Hashable {
    /// Layers that keep every position.
    package let fullLayers: Int
    /// Layers that keep the last ``window`` positions only.
    package let windowedLayers: Int
    package let window: Int?
    /// Numbers that one layer keeps of one position.
    package let numbersPerLayer: Int

    /// Kinds of layers that keep a state of fixed size in place of positions.
    private static let stateful: Set<String> = [
        "linear_attention", "mamba", "mamba2", "conv", "recurrent", "lightning",
    ]
    /// Whose every layer has the window that the file names.
    private static let allWindowed: Set<String> = ["mistral", "mixtral", "phi3", "starcoder2"]

    init(_ fields: ConfigurationFields, modelType: String, layers: Int?, kvHeads: Int?, headSize: Int?) {
        // Multi-head latent attention keeps one compressed vector and the rotated part of the keys
        // (https://arxiv.org/abs/2405.04434).
        if let rank = fields.optionalCount("kv_lora_rank") {
            numbersPerLayer = rank + (fields.optionalCount("qk_rope_head_dim") ?? 0)
        } else {
            numbersPerLayer = 2 * (kvHeads ?? 0) * (headSize ?? 0)
        }
        let layers = layers ?? 0
        let kinds = fields.strings("layer_types").prefix(layers)
        let isSwitchedOff = (try? fields.bool("use_sliding_window")) == false
        window = isSwitchedOff ? nil : fields.optionalCount("sliding_window", "attention_chunk_size")
        let kept = layers - kinds.count(where: Self.stateful.contains)
        var windowed = 0
        if window != nil {
            if !kinds.isEmpty {
                windowed = kinds.count { $0 == "sliding_attention" || $0 == "chunked_attention" }
            } else if let pattern = fields.optionalCount("sliding_window_pattern", "_sliding_window_pattern") {
                windowed = layers - layers / pattern
            } else if modelType == "gemma2" {
                windowed = (layers + 1) / 2
            } else if Self.allWindowed.contains(modelType) {
                windowed = layers
            }
        }
        windowedLayers = min(windowed, kept)
        fullLayers = kept - windowedLayers
    }
}

extension ConfigurationFields {
    /// Where the decoder of a model with several parts is described.
    func decoder() throws(AIError) -> ConfigurationFields {
        if has("hidden_size") || has("n_embd") || has("d_model") { return self }
        return try object("text_config", "llm_config", "language_config", "text_model_config") ?? self
    }
}
