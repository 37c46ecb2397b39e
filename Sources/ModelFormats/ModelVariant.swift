import HubCore

/// One set of weights of a repository: one of its GGUF quantisations, its safetensors, its PyTorch files. Told from names
/// and tags alone.
package struct ModelVariant: Sendable, Hashable {
    /// What `--quant` calls it: `Q4_K_M`, `fp16`, `consolidated`; the format's own name for the set that needs no other.
    package let name: String
    package let format: WeightFormat
    /// As llama.cpp writes it; the bits of an MLX model where its tags say them.
    package let quantization: String?
    /// Paths, sorted.
    package let files: [String]
    package let sizeBytes: Int64
    /// Whether it is what `--format` means where the format has several.
    package internal(set) var isMain: Bool

    /// Bits of a weight where the name says them.
    let bits: Int?
    /// See ``WeightName/SetID``.
    let scope: String
    let edition: String
    /// Files that go with it and hold no weights.
    let companions: [String]

    /// Its files that are of another format, for the model has these parts in no other.
    package var foreignFiles: [String] {
        files.filter { file in
            guard format.isLoadable, let own = WeightFormat(fileName: Path.name(file)) else { return false }
            return (own == .pickle) != (format == .pickle)
        }
    }

    /// Whether its numbers are plain ones, as before any quantising.
    package var isPlain: Bool { (bits ?? 0) >= 16 }

    /// How well a name that people type fits, 0 best; nil where another is meant. Case, `-`, `_` and Unsloth's `UD-` do not
    /// count.
    func distance(to text: String) -> Int? {
        if name == text { return 0 }
        let (wanted, quantization) = (Self.plainName(text), quantization.map(Self.plainName))
        if Self.plainName(name) == wanted { return 1 }
        return quantization == wanted ? 2 : quantization == "ud" + wanted ? 3 : nil
    }

    private static func plainName(_ text: String) -> String {
        let plain = text.lowercased().filter { !"-_. ".contains($0) }
        // llama.cpp's f16 is everybody else's fp16.
        return ["fp16": "f16", "fp32": "f32"][plain] ?? plain
    }
}
