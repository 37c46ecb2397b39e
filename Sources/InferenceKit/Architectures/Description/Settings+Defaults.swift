import ModelFormats

/// Numbers that a class of transformers has where config.json says nothing, and which are not those of Llama.
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
