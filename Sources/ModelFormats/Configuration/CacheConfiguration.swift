import HubCore

/// The KV cache layout by what `config.json` usually says: of a model that no engine describes.
package struct CacheConfiguration: Sendable, Hashable {
    /// Layers that keep every position.
    package let fullLayers: Int
    /// Layers that keep only the last ``window`` positions.
    package let windowedLayers: Int
    package let window: Int?
    /// Numbers per position in a layer.
    package let numbersPerLayer: Int

    /// Whether there are layers with a state of fixed size, whose size is not told here.
    let hasStates: Bool

    /// Whether there is a cache: encoders and recurrent models have none.
    package var keepsPositions: Bool { fullLayers > 0 || windowedLayers > 0 }

    /// Kinds of layers with a state of fixed size,
    private static let stateful: Set<String> = [
        "linear_attention", "mamba", "mamba2", "conv", "recurrent", "lightning",
    ]
    /// and of those that keep nothing.
    private static let forgetful: Set<String> = ["mlp", "moe", "cross_attention"]

    /// - Parameter type: `model_type` of the decoder.
    /// - Returns: nil if the file does not say enough.
    init?(_ fields: ConfigurationFields, type: String, layers: Int?, kvHeads: Int?, headSize: Int?) {
        if ArchitectureTraits.keepsNothing(type, isDecoder: fields.isTrue("is_decoder")) {
            (fullLayers, windowedLayers, window) = (0, 0, nil)
            (numbersPerLayer, hasStates) = (0, false)
            return
        }
        // Different head counts per layer have no single size.
        guard let layers,
            !["block_configs", "global_head_dim", "num_global_key_value_heads"].contains(where: fields.has)
        else { return nil }
        // Multi-head latent attention caches one compressed vector and the rotated part of the keys
        // (https://arxiv.org/abs/2405.04434).
        if let rank = fields.optionalCount("kv_lora_rank") {
            numbersPerLayer = rank + (fields.optionalCount("qk_rope_head_dim") ?? 0)
        } else if let kvHeads, let headSize {
            numbersPerLayer = 2 * kvHeads * headSize
        } else {
            return nil
        }
        guard let kinds = fields.layerKinds(layers, type: type) else { return nil }
        let isSwitchedOff = (try? fields.bool("use_sliding_window")) == false
        window =
            isSwitchedOff
            ? nil
            : fields.optionalCount("sliding_window", "attention_chunk_size", "attention_window_size")
                ?? (fields.isNull("attention_chunk_size") ? nil : ArchitectureTraits.chunkSize[type])
        hasStates = kinds.contains(where: Self.stateful.contains)
        let kept = layers - kinds.count { Self.stateful.contains($0) || Self.forgetful.contains($0) }
        var windowed = 0
        if window != nil {
            if ArchitectureTraits.windowedThroughout.contains(type) {
                windowed = kept
            } else if kinds.contains("sliding_attention") || kinds.contains("chunked_attention") {
                windowed = kinds.count { $0 == "sliding_attention" || $0 == "chunked_attention" }
            } else if kinds.isEmpty,
                let pattern = fields.optionalCount("sliding_window_pattern", "_sliding_window_pattern")
                    ?? ArchitectureTraits.windowPattern[type]
            {
                windowed = layers - layers / pattern
            }
        }
        windowedLayers = min(windowed, kept)
        fullLayers = kept - windowedLayers
    }
}

extension ConfigurationFields {
    /// The configuration of the decoder in a model with several parts.
    func decoder() throws(AIError) -> ConfigurationFields {
        let keys = [
            "num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "num_transformer_layers",
        ]
        if keys.contains(where: has) { return self }
        let usual = optionalText("model_type").map { $0 + "_text_model" }
        // Where CLIP's first files say it twice, the defaults and what is said second count.
        let isTwice = has("text_config_dict") && usual.map { ArchitectureTraits.defaults[$0] != nil } ?? false
        let part = try object(
            isTwice ? "text_config_dict" : "text_config", "text_config", "llm_config", "language_config",
            "text_model_config", "thinker_config")
        return try (part ?? optionalObject("decoder"))?.withDefaults(of: usual).decoder() ?? self
    }

    /// Heads of keys and values: `heads` if the file has none; nil if they differ between layers.
    func kvHeads(of heads: Int?) throws(AIError) -> Int? {
        // Falcon's newer decoders have groups despite multi_query.
        if isTrue("multi_query"), !isTrue("new_decoder_architecture"), !has("n_head_kv") { return 1 }
        if isTrue("multi_query_attention"), let groups = try count("multi_query_group_num", in: SettingLimits.heads)
        {
            return groups
        }
        let names = ["num_key_value_heads", "num_kv_heads", "n_head_kv"]
        if names.contains(where: has) {
            return try count("num_key_value_heads", "num_kv_heads", "n_head_kv", in: SettingLimits.heads)
        }
        let attention = try object("attn_config")
        if attention?.optionalText("attn_type") == "multiquery_attention" { return 1 }
        return try attention?.count("kv_n_heads", in: SettingLimits.heads) ?? heads
    }

    /// More layers than any model has; larger counts are not enumerated.
    private static let mostLayers = 10_000

    /// How many layers the file lists; nil if it lists none.
    var listedLayers: Int? {
        let kinds = strings("layers_block_type")
        return kinds.isEmpty ? nil : kinds.count
    }

    /// The kind of each layer; empty if the file does not list them.
    ///
    /// - Returns: nil if it lists too many layers.
    func layerKinds(_ layers: Int, type: String) -> [String]? {
        for key in ["layer_types", "layers_block_type"] where has(key) { return Array(strings(key).prefix(layers)) }
        if let special = specialKinds(layers, type) {
            guard layers <= Self.mostLayers else { return nil }
            return (0..<layers).map(special)
        }
        let attends: (Int) -> Bool
        let repeated = strings("block_types")
        if !repeated.isEmpty {
            attends = { repeated[$0 % repeated.count] == "attention" }
        } else if let pattern = optionalText("hybrid_override_pattern").map({ Array($0) }) {
            attends = { $0 < pattern.count && pattern[$0] == "*" }
        } else if let interval = optionalCount("full_attention_interval")
            ?? ArchitectureTraits.attentionInterval[type]
        {
            attends = { ($0 + 1) % interval == 0 }
        } else if let period = optionalCount("attn_layer_period") {
            let offset = (index("attn_layer_offset") ?? 0) % period
            attends = { $0 % period == offset }
        } else if let places = integers("attn_layer_indices", "full_attn_idxs", "hybrid_layer_ids").map({ Set($0) })
        {
            attends = { places.contains($0) }
        } else if let flags = integers("attn_type_list") {
            attends = { $0 < flags.count && flags[$0] == 1 }
        } else {
            return []
        }
        guard layers <= Self.mostLayers else { return nil }
        return (0..<layers).map { attends($0) ? "full_attention" : "linear_attention" }
    }

    /// Layer kinds given in a way specific to one architecture.
    private func specialKinds(_ layers: Int, _ type: String) -> ((Int) -> String)? {
        if ArchitectureTraits.chunkSize[type] != nil {
            // Layers without rotation have full attention: those with a 0, or every fourth.
            let rotated = integers("no_rope_layers") ?? []
            let interval = optionalCount("no_rope_layer_interval") ?? 4
            return { layer in
                let isFull = layer < rotated.count ? rotated[layer] == 0 : (layer + 1) % interval == 0
                return isFull ? "full_attention" : "chunked_attention"
            }
        }
        if let places = optionalObject("linear_attn_config")?.integers("full_attn_layers").map({ Set($0) }) {
            // Counted from 1.
            return { places.contains($0 + 1) ? "full_attention" : "linear_attention" }
        }
        if let places = integers("cross_attention_layers").map({ Set($0) }) {
            return { places.contains($0) ? "cross_attention" : "full_attention" }
        }
        if type.hasPrefix("qwen2") || type == "qwen3", isTrue("use_sliding_window"),
            let first = index("max_window_layers")
        {
            return { $0 >= first ? "sliding_attention" : "full_attention" }
        }
        return nil
    }
}
