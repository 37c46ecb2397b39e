extension RegistryEntry {
    /// Bytes of the weights that it means, an estimate by its parameters and its quantisation; nil where they do not tell.
    package var estimatedWeightBytes: Int64? {
        guard let parameters, let bits else { return nil }
        return Int64(exactly: (Double(parameters) * bits / 8).rounded())
    }

    /// Bits of a weight, scales included.
    private var bits: Double? {
        guard let quantization = quantization?.lowercased() else { return format == .gguf ? nil : 16 }
        if let bits = Self.bits[quantization] { return bits }
        // `4bit`, `IQ4_NL`: groups share scales of half a bit a weight.
        return quantization.first(where: \.isNumber).flatMap(\.wholeNumberValue).map { Double($0) + 0.5 }
    }

    /// What llama.cpp's quantisations take of a Llama model of 8 billion parameters
    /// (https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md).
    private static let bits: [String: Double] = [
        "f32": 32, "f16": 16, "bf16": 16, "q8_0": 8.5, "q6_k": 6.56, "q5_k_m": 5.7, "q5_k_s": 5.57, "q4_k_m": 4.89,
        "q4_k_s": 4.67, "q4_0": 4.5, "iq4_xs": 4.46, "q3_k_l": 4.3, "q3_k_m": 4, "q3_k_s": 3.64, "q2_k": 3.16,
    ]
}
