import HubCore
import ModelFormats

/// What Gemma 3n and 4 have in common.
extension Settings {
    /// For each layer the earlier one whose keys and values it reads: the last layers, as many as
    /// `num_kv_shared_layers`, read those of the last one of their kind before them.
    ///
    /// - Parameters:
    ///   - kinds: of all layers.
    ///   - shared: where the settings do not say.
    /// - Throws: ``ErrorCode/malformedModel`` if there is no such layer.
    func sources(_ kinds: [String], shared usual: Int = 0) throws(AIError) -> [Int?] {
        let shared = place("num_kv_shared_layers") ?? usual
        guard shared < kinds.count else {
            throw .malformed(path, "num_kv_shared_layers is \(shared), not below the number of layers")
        }
        let own = kinds.dropLast(shared)
        var sources = [Int?](repeating: nil, count: own.count)
        for kind in kinds.suffix(shared) {
            guard let source = own.lastIndex(of: kind) else {
                throw .malformed(path, "num_kv_shared_layers leaves no layer of the kind \(kind.printable)")
            }
            sources.append(source)
        }
        return sources
    }

    /// The rows of tokens for each layer; nil for none.
    ///
    /// - Parameter width: where the settings do not say.
    func layerInputs(_ model: ModelDescription, width usual: Int) throws(AIError) -> ModelDescription.LayerInputs? {
        let key = "hidden_size_per_layer_input"
        guard let width = has(key) ? countIfAny(key) : usual, width > 0, let norm = model.finalNorm else {
            return nil
        }
        let rows =
            try size(value("vocab_size_per_layer_input"), "vocab_size_per_layer_input")
            ?? (isGGUF ? model.vocabulary : 262_144)
        return .init(
            vocabulary: rows, width: width,
            activation: model.layers.first?.feedForward?.activation ?? .geluTanh, norm: norm)
    }
}

extension TensorNames {
    /// With the rows of tokens for layers.
    static let gemmaInputs = gemmaAround.with([
        .layerTable: "embed_tokens_per_layer", .layerProjection: "per_layer_model_projection",
        .layerProjectionNorm: "per_layer_projection_norm", .layerGate: "per_layer_input_gate",
        .layerOutput: "per_layer_projection", .layerNorm: "post_per_layer_input_norm",
    ])

    /// Published files have some in layers that read those of others.
    static let sharedKeys =
        ["k_norm.weight"]
        + ["k_proj", "v_proj"].flatMap { matrix in
            ["weight", "scales", "biases"].map { "self_attn.\(matrix).\($0)" }
        }
}
