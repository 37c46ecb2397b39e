import HubCore
import ModelFormats

/// Checks of an architecture without a description: its layers must be alike.
extension CheckRun {
    /// The layers under one prefix.
    private struct Row {
        /// By layer number and the rest of the name.
        var layers: [Int: [String: ModelTensor]] = [:]
    }

    mutating func checkLikeness(
        _ configuration: ModelConfiguration, _ known: [String: ModelTensor], _ part: CheckedWeights
    ) {
        checkEmbedding(configuration, known, part)
        guard let layers = configuration.layers else { return }
        let rows = Self.rows(known)
        let source = shown(configuration.path)
        guard let held = LayerCount.held(rows.values.lazy.flatMap(\.layers.keys)) else {
            // A checkpoint with other layer names still has numbers in them.
            guard !known.keys.contains(where: { $0.split(separator: ".").contains { Int($0) != nil } }) else {
                return
            }
            return add(
                .init(
                    "tensors", .fail,
                    Self.labelled(part.label, "the weights have no layers, \(source) says \(layers)"), file: source,
                    expected: counted(layers, "layer"), found: "0"))
        }
        guard held >= layers else {
            return add(
                .init(
                    "tensors", .fail,
                    Self.labelled(
                        part.label, RunObstacle.missingLayers(held: held, told: layers, file: source).text),
                    file: source, expected: counted(layers, "layer"), found: "\(held)"))
        }
        // Models that are not text (convolutions of a codec, stages of an image model) and files with sizes per layer
        // have layers of different shapes.
        guard configuration.vocabulary != nil, !Self.hasSizesOfLayers(configuration, layers) else { return }
        for (place, row) in rows.sorted(by: { $0.key < $1.key }) where row.layers.count == layers {
            compareKinds(place, row, configuration.layerKinds, part)
        }
    }

    private static func rows(_ known: [String: ModelTensor]) -> [String: Row] {
        var rows: [String: Row] = [:]
        for (name, tensor) in known {
            guard let name = LayerName(name) else { continue }
            rows[name.row, default: Row()].layers[name.layer, default: [:]][name.rest] = tensor
        }
        return rows
    }

    private static func hasSizesOfLayers(_ configuration: ModelConfiguration, _ layers: Int) -> Bool {
        configuration.settings.members.contains { member in
            guard let list = member.value.array, list.count >= layers else { return false }
            return list.contains { $0.double != nil || $0.object != nil }
        }
    }

    /// Layers of one kind must have the same tensor names and shapes.
    private mutating func compareKinds(
        _ place: String, _ row: Row, _ kinds: [String], _ part: CheckedWeights
    ) {
        var groups: [[String]: [Int]] = [:]
        for (layer, tensors) in row.layers { groups[tensors.keys.sorted(), default: []].append(layer) }
        for (names, layers) in groups.sorted(by: { $0.value.min()! < $1.value.min()! }) {
            let told = Dictionary(grouping: layers.sorted()) { $0 < kinds.count ? kinds[$0] : "" }
            for alike in told.sorted(by: { $0.value[0] < $1.value[0] }).map(\.value) where alike.count > 1 {
                for name in names { compareShapes(name, alike, row, part) }
            }
            guard layers.count == 1, let layer = layers.first,
                let whole = groups.filter({ $0.value.count > 1 && Set($0.key).isStrictSuperset(of: names) })
                    .min(by: { ($0.key.count, $0.value.min()!) < ($1.key.count, $1.value.min()!) })
            else { continue }
            for name in Set(whole.key).subtracting(names).sorted() {
                add(
                    .init(
                        "tensors", .warn,
                        Self.labelled(
                            part.label,
                            "layer \(layer) has no \"\(place).\(layer).\(name)\", which \(whole.value.count) others have"
                        ),
                        tensor: "\(place).\(layer).\(name)", found: "nothing"))
            }
        }
    }

    /// The most common shape is taken as right; on a tie the first.
    private mutating func compareShapes(
        _ name: String, _ layers: [Int], _ row: Row, _ part: CheckedWeights
    ) {
        let shapes = layers.compactMap { layer in row.layers[layer]?[name]?.shape.map { (layer, $0) } }
        let counts = Dictionary(grouping: shapes) { $0.1 }
        guard counts.count > 1,
            let usual = counts.max(by: { ($0.value.count, -$0.value[0].0) < ($1.value.count, -$1.value[0].0) })?.key
        else { return }
        for (layer, shape) in shapes where shape != usual {
            let tensor = row.layers[layer]?[name]?.name ?? name
            add(
                .init(
                    "tensors", .fail,
                    Self.labelled(
                        part.label, "tensor \"\(tensor)\" has the shape \(shape), in other layers it has \(usual)"),
                    tensor: tensor, expected: "\(usual)", found: "\(shape)"))
        }
    }

    /// The embedding must have one row per token.
    private mutating func checkEmbedding(
        _ configuration: ModelConfiguration, _ known: [String: ModelTensor], _ part: CheckedWeights
    ) {
        guard let vocabulary = configuration.vocabulary, let width = configuration.hiddenSize else { return }
        let endings = [
            "embed_tokens.weight", "wte.weight", "word_embeddings.weight", "embed_in.weight", "token_embd.weight",
            "tok_embeddings.weight",
        ]
        let found = known.values.filter { tensor in
            endings.contains(where: tensor.name.hasSuffix) && tensor.shape?.count == 2
        }
        // Some embeddings are narrower than the layers.
        let isThere = found.contains { $0.shape?[0] == vocabulary || $0.shape?[1] != width }
        guard let other = found.min(by: { $0.name < $1.name }), let shape = other.shape, !isThere else { return }
        add(
            .init(
                "tensors", .warn,
                Self.labelled(
                    part.label,
                    "tensor \"\(other.name)\" has the shape \(shape), \(shown(configuration.path)) says [\(vocabulary), \(width)]"
                ),
                tensor: other.name, expected: "[\(vocabulary), \(width)]", found: "\(shape)"))
    }
}
