import HubCore
import ModelFormats

extension Settings {
    /// A decoder like Llama (https://arxiv.org/abs/2307.09288): RMS norms before each half, grouped queries, rotary
    /// embeddings over the whole head, a gated feed-forward block with SiLU, no biases. Families change what differs.
    ///
    /// - Parameters:
    ///   - isUneven: whether layers may differ in sizes, which GGUF then lists. Each gets those of the first.
    ///   - headSize: numbers of a head, where the family has a setting of its own for it.
    ///   - named: the activation, whatever the settings say.
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    mutating func decoder(
        normOffset: Float = 0, isTied: Bool = false, isUneven: Bool = false, headSize told: Int? = nil,
        activation named: String? = nil
    ) throws(AIError) -> ModelDescription {
        let c = configuration
        let width = try need(c.hiddenSize, "hidden_size")
        let heads = try need(c.heads, "num_attention_heads")
        let headSize = try need(told ?? c.headSize, "head_dim")
        var (kvHeads, inner) = (c.kvHeads, c.intermediateSize)
        if isUneven, kvHeads == nil { kvHeads = try listed("num_key_value_heads", 0) }
        if isUneven, inner == nil { inner = try listed("intermediate_size", 0) }
        let norm = ModelDescription.Norm(
            kind: .rms(offset: normOffset), epsilon: Float(c.rmsNormEpsilon ?? usualEpsilon))
        let attention = ModelDescription.Attention(
            heads: heads, kvHeads: try need(kvHeads, "num_key_value_heads"), headSize: headSize,
            scale: 1 / Float(headSize).squareRoot(), rotary: try rotary(headSize: headSize),
            hasInputBias: has(bias: "attention_bias", of: "attn_q"),
            hasOutputBias: has(bias: "attention_bias", of: "attn_output"))
        let feedForward = ModelDescription.FeedForward(
            // Where every layer is a mixture, there may be the width of an expert alone.
            width: try need(inner ?? expertWidth, "intermediate_size"),
            activation: activation(named ?? c.activation, default: .silu), isGated: true,
            hasBias: has(bias: "mlp_bias", of: "ffn_down"))
        let layer = ModelDescription.Layer(
            attention: attention, feedForward: feedForward, norms: .before, norm: norm)
        return ModelDescription(
            vocabulary: try need(c.vocabulary, "vocab_size"), width: width,
            maxPositions: positions(attention.rotary),
            layers: Array(repeating: layer, count: try layerCount("num_hidden_layers")), finalNorm: norm,
            head: .init(isTied: self.isTied(default: isTied)))
    }

    /// The positions that a model takes. Dynamic scaling begins where max_position_embeddings ends.
    private func positions(_ rotary: ModelDescription.Rotary?) -> Int {
        let told = configuration.maxPositions ?? 2048
        guard case .dynamic(let factor, _) = rotary?.scaling else { return told }
        return Int(min(Double(told) * factor, Double(Int32.max)))
    }

    /// Whether matrices have biases: by a setting, or in GGUF by whether the first layer's is stored.
    func has(bias setting: String, of tensor: String) -> Bool {
        isGGUF ? stores("blk.0.\(tensor).bias") ?? false : flag(setting) ?? false
    }

    /// As ``layerKinds(_:period:)``, with the period that `sliding_window_pattern` says.
    ///
    /// - Parameter usual: the period where it says none.
    func layerKinds(_ count: Int, usual: Int) -> [String] {
        let listed = configuration.layerKinds
        if listed.count == count { return listed }
        return layerKinds(count, period: self.count("sliding_window_pattern") ?? usual)
    }

    /// The kind of each layer, `sliding_attention` or `full_attention`, by the configuration's list, or else by a
    /// pattern: every `period`-th layer sees everything.
    func layerKinds(_ count: Int, period: Int) -> [String] {
        let listed = configuration.layerKinds
        if listed.count == count { return listed }
        return (0..<count).map { ($0 + 1) % period == 0 ? "full_attention" : "sliding_attention" }
    }
}

/// The defaults of transformers' classes that differ from Llama's, for what config.json does not say.
extension Settings {
    private var type: String { configuration.decoderType ?? "" }

    /// The epsilon of RMS norms.
    var usualEpsilon: Double {
        if ["glm", "glm4"].contains(type) { return 1.5625e-07 }
        return Self.coarse.contains(type) ? 1e-5 : 1e-6
    }

    private static let coarse: Set<String> = [
        "apertus", "arcee", "bamba", "ernie4_5", "ernie4_5_moe", "eurobert", "exaone4", "falcon_h1", "glm4_moe",
        "glm4_moe_lite", "gpt_oss", "hunyuan_v1_dense", "hunyuan_v1_moe", "ministral3", "mixtral", "olmo2", "olmo3",
        "olmoe", "phi3", "phimoe",
    ]

    /// The base of the rotary embedding.
    var usualBase: Double { Self.bases[type] ?? 10_000 }

    private static let bases: [String: Double] = [
        "cohere": 500_000, "gpt_oss": 150_000, "minimax_m2": 5_000_000, "mixtral": 1_000_000,
    ]
}

extension ModelDescription {
    /// Changes every layer's attention.
    mutating func eachAttention(_ change: (inout Attention) -> Void) {
        for index in layers.indices {
            guard var attention = layers[index].attention else { continue }
            change(&attention)
            layers[index].attention = attention
        }
    }
}
