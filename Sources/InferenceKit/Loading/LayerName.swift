import ModelFormats

/// The name of a tensor in one of a model's layers: `model.layers.3.mlp.up_proj.weight`.
struct LayerName {
    /// The common prefix of a row of layers: `model.layers`.
    let row: String
    /// From 0.
    let layer: Int
    /// The rest of the name: `mlp.up_proj.weight`.
    let rest: String

    private static let words: Set<Substring> = ["layers", "h", "blk", "block", "blocks", "layer"]
    /// A larger number is not a layer number.
    private static let most = 1_000_000

    /// nil for a tensor outside the layers, and for vision and audio encoders.
    init?(_ name: String) {
        let parts = name.split(separator: ".")
        guard let at = parts.firstIndex(where: Self.words.contains), at + 2 < parts.count,
            let layer = Int(parts[at + 1]), (0..<Self.most).contains(layer),
            ![.vision, .audio, .buffer].contains(TensorPart(name))
        else { return nil }
        row = parts[...at].joined(separator: ".")
        self.layer = layer
        rest = parts[(at + 2)...].joined(separator: ".")
    }
}
