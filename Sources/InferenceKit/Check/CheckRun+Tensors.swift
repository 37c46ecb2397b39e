import HubCore
import ModelFormats

/// The tensors held against what the configuration says.
extension CheckRun {
    mutating func checkTensors() {
        // What is left of a broken model is no model.
        let held = parts.filter { sources != nil || $0.gguf != nil }
        guard !held.isEmpty else { return sources == nil ? skip("tensors") : warnUnread("tensors") }
        var details: [(label: String, text: String)] = []
        for part in held where part.isModel { details.append((part.label, hold(part))) }
        let beside = held.filter { !$0.isModel }
        if !beside.isEmpty {
            let count = beside.reduce(0) { $0 + $1.weights.tensors.count }
            let what = details.isEmpty ? "" : "beside the model "
            details.append(("", "\(what)\(counted(count, "tensor")), held against nothing"))
        }
        close("tensors", Self.summed(details))
    }

    /// - Returns: what to say where nothing is wrong.
    private mutating func hold(_ part: CheckedWeights) -> String {
        let weights = part.weights
        guard let configuration = part.configuration else {
            if sources?.isLoadable == true {
                add(
                    .init(
                        "tensors", .warn, "there is no config.json to hold the tensors against", file: "config.json"
                    ))
            }
            return "\(counted(weights.tensors.count, "tensor")), held against nothing"
        }
        let grouped = ModelTensors(weights, configuration.quantization).tensors
        var known: [String: ModelTensor] = [:]
        for tensor in grouped {
            let name = tensor.name.replacing("LayerNorm.gamma", with: "LayerNorm.weight").replacing(
                "LayerNorm.beta", with: "LayerNorm.bias")
            known[name] = tensor
        }
        let described =
            part.gguf != nil
            ? TensorNeeds(gguf: configuration, names: known.keys)
            : TensorNeeds(configuration, names: known.keys)
        let type = configuration.modelType ?? "such a model"
        guard let needs = described else {
            checkLayers(configuration, known.keys)
            return "\(counted(grouped.count, "tensor")); which of them \(type) needs is not known here"
        }
        var left = known
        for need in needs.needs {
            guard let tensor = left.removeValue(forKey: need.name) else {
                if !need.isOptional { missing(need, part) }
                continue
            }
            compare(tensor, need, part, Path.name(configuration.path))
        }
        let unused = left.keys.sorted().filter { !Self.isBesideText($0) }
        for name in unused {
            let tensor = left[name]!
            add(
                .init(
                    "tensors", .pass,
                    Self.labelled(part.label, "tensor \"\(tensor.name)\" is none that \(type) uses"),
                    file: file(of: tensor, weights), tensor: tensor.name))
        }
        return "\(needs.needs.count { !$0.isOptional }) needed, all there with their shapes"
            + (unused.isEmpty ? "" : "; \(unused.count) that \(unused.count == 1 ? "is" : "are") not used")
    }

    /// Whether a tensor is of a part that is not held against anything: a buffer, eyes, ears and what ties them in.
    private static func isBesideText(_ name: String) -> Bool {
        [.buffer, .vision, .audio].contains(TensorPart(name)) || name.contains("multi_modal_projector")
    }

    private func file(of tensor: ModelTensor, _ weights: StoredWeights) -> String {
        shown(weights.files[weights.tensors[tensor.members[0]].file].path)
    }

    private static func shown(_ shape: [Int?]) -> String {
        "[" + shape.map { $0.map(String.init) ?? "?" }.joined(separator: ", ") + "]"
    }

    private mutating func missing(_ need: TensorNeeds.Need, _ part: CheckedWeights) {
        let files = part.weights.files
        let file = files.count == 1 || part.gguf != nil ? shown(files[0].path) : SafetensorsFolder.indexName
        add(
            .init(
                "tensors", .fail, Self.labelled(part.label, "tensor \"\(need.name)\" is missing"), file: file,
                tensor: need.name, expected: Self.shown(need.shape), found: "nothing"))
    }

    private mutating func compare(
        _ tensor: ModelTensor, _ need: TensorNeeds.Need, _ part: CheckedWeights, _ source: String
    ) {
        guard let shape = tensor.shape else { return }
        let fits = shape.count == need.shape.count && zip(shape, need.shape).allSatisfy { $1 == nil || $0 == $1 }
        guard !fits else { return }
        add(
            .init(
                "tensors", .fail,
                "tensor \"\(tensor.name)\" has the shape \(shape), \(source) says \(Self.shown(need.shape))",
                file: file(of: tensor, part.weights), tensor: tensor.name, expected: Self.shown(need.shape),
                found: "\(shape)"))
    }

    /// Of an architecture that is not described: as many layers as the configuration says.
    private mutating func checkLayers(_ configuration: ModelConfiguration, _ names: some Collection<String>) {
        guard let layers = configuration.layers, let held = LayerCount.held(names), held < layers else { return }
        let source = shown(configuration.path)
        add(
            .init(
                "tensors", .fail, LayerCount.sentence(held: held, told: layers, by: source), file: source,
                expected: counted(layers, "layer"), found: "\(held)"))
    }
}
