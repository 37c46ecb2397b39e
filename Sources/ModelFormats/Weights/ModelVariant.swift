import HubCore

/// One set of weights of a repository: one of its GGUF quantisations, its safetensors, its PyTorch files. Derived only
/// from names and tags.
package struct ModelVariant: Sendable, Hashable {
    /// Its name for `--quant`: `Q4_K_M`, `fp16`, `consolidated`; the format's name for the default set.
    package let name: String
    package let format: WeightFormat
    /// As llama.cpp writes it; for MLX the bits from its tags.
    package let quantization: String?
    /// Paths, sorted.
    package let files: [String]
    package let sizeBytes: Int64
    /// Whether `--format` chooses it if the format has several sets.
    package internal(set) var isMain: Bool

    /// Bits per weight, if the name gives them.
    let bits: Int?
    /// See ``WeightName/SetID``.
    let scope: String
    let edition: String
    /// Its companion files without weights.
    let companions: [String]

    /// Its files in another format, for parts that exist only there.
    package var foreignFiles: [String] {
        files.filter { file in
            guard format.isLoadable, let own = WeightFormat(fileName: Path.name(file)) else { return false }
            return (own == .pickle) != (format == .pickle)
        }
    }

    /// Whether it is not quantised.
    package var isPlain: Bool { (bits ?? 0) >= 16 }

    /// How well a typed name matches, 0 best; nil if it does not. Case, `-`, `_` and Unsloth's `UD-` are ignored.
    func distance(to text: String) -> Int? {
        if name == text { return 0 }
        let (wanted, quantization) = (Self.plainName(text), quantization.map(Self.plainName))
        if Self.plainName(name) == wanted { return 1 }
        return quantization == wanted ? 2 : quantization == "ud" + wanted ? 3 : nil
    }

    private static func plainName(_ text: String) -> String {
        let plain = text.lowercased().filter { !"-_. ".contains($0) }
        // llama.cpp writes f16 for fp16.
        return ["fp16": "f16", "fp32": "f32"][plain] ?? plain
    }
}
