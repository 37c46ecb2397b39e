import HubCore
import ModelFormats

/// Checks of the tensors against the configuration.
extension CheckRun {
    mutating func checkTensors() {
        // The rest of a broken model is not checked as a model.
        let held = parts.filter { sources != nil || $0.gguf != nil }
        guard !held.isEmpty else { return sources == nil ? skip("tensors") : warnUnread("tensors") }
        var details: [(label: String, text: String)] = []
        var isKnown = false
        for part in held where part.isModel {
            let (text, isHeld) = hold(part)
            details.append((part.label, text))
            isKnown = isKnown || isHeld
        }
        let beside = held.filter { !$0.isModel }
        if !beside.isEmpty {
            let count = beside.reduce(0) { $0 + $1.weights.tensors.count }
            let what = details.isEmpty ? "" : "beside the model "
            details.append(("", "\(what)\(counted(count, "tensor")), not compared with a configuration"))
        }
        close("tensors", Self.summed(details), otherwise: isKnown ? .pass : .skip)
    }

    /// - Returns: the text if nothing is wrong, and whether the model's required tensors are known.
    private mutating func hold(_ part: CheckedWeights) -> (text: String, isHeld: Bool) {
        let weights = part.weights
        guard let configuration = part.configuration else {
            if sources?.isLoadable == true {
                add(
                    .init(
                        "tensors", .warn, "there is no config.json to compare the tensors with", file: "config.json"
                    ))
            }
            return ("\(counted(weights.tensors.count, "tensor")), not compared with a configuration", false)
        }
        let packed = ModelTensors(weights, configuration.quantization)
        let grouped = packed.tensors
        for fault in packed.faults {
            let file = shown(weights.files[weights.tensors[fault.weights].file].path)
            add(.init("tensors", .fail, Self.labelled(part.label, fault.detail), file: file, tensor: fault.tensor))
        }
        if !weights.wrapper.isEmpty { warnWrapped(part) }
        if configuration.quantization == nil { checkUnsaidPacking(grouped, part, shown(configuration.path)) }
        var known: [String: ModelTensor] = [:]
        for tensor in grouped { known[TensorList.plain(tensor.name)] = tensor }
        let type = configuration.timmName ?? configuration.modelType ?? "such a model"
        guard let needs = TensorNeeds(configuration, names: known.keys, isGGUF: part.gguf != nil) else {
            checkLikeness(configuration, known, part)
            return ("\(counted(grouped.count, "tensor")); hub does not know which of them \(type) needs", false)
        }
        var left = known
        for need in needs.needs {
            guard let tensor = left.removeValue(forKey: need.name) else {
                if !need.isOptional { missing(need, part) }
                continue
            }
            compare(tensor, need, part, Path.name(configuration.path))
        }
        let unused = left.keys.sorted().filter { !needs.isBeside($0) }
        for name in unused {
            let tensor = left[name]!
            add(
                .init(
                    "tensors", .pass,
                    Self.labelled(part.label, "tensor \"\(tensor.name)\" is not used by \(type)"),
                    file: file(of: tensor, weights), tensor: tensor.name))
        }
        return (
            "\(needs.needs.count { !$0.isOptional }) needed, all present with the right shapes"
                + (unused.isEmpty ? "" : "; \(unused.count) that \(unused.count == 1 ? "is" : "are") not used"),
            true
        )
    }

    /// Reports names that hub reads without what stands before them. Transformers takes them as they are: none of them is
    /// the model's, so it would initialise all tensors randomly.
    private mutating func warnWrapped(_ part: CheckedWeights) {
        let weights = part.weights
        guard let first = weights.tensors.map(\.name).min() else { return }
        add(
            .init(
                "tensors", .warn,
                Self.labelled(
                    part.label,
                    "all names begin with \"\(weights.wrapper)\", which hub leaves out; transformers does not"),
                file: shown(weights.files[0].path), tensor: weights.wrapper + first, expected: first,
                found: weights.wrapper + first))
    }

    /// Reports packed weights that the configuration does not declare: loaders would read them as plain numbers.
    private mutating func checkUnsaidPacking(_ tensors: [ModelTensor], _ part: CheckedWeights, _ source: String) {
        let stored = part.weights.tensors
        var kinds: [String: [ModelTensor]] = [:]
        for tensor in tensors where tensor.members.count > 1 {
            // An 8-bit float without its scale is also a number, but a wrong one.
            if stored[tensor.members[0]].type != tensor.storage || tensor.storage.hasPrefix("F8_") {
                kinds[tensor.storage, default: []].append(tensor)
            }
        }
        for (kind, tensors) in kinds.sorted(by: { $0.key < $1.key }) {
            let first = tensors.map(\.name).min() ?? ""
            let what =
                tensors.count == 1 ? "tensor \"\(first)\" is" : "\(tensors.count) tensors (\"\(first)\" …) are"
            add(
                .init(
                    "tensors", kind.hasPrefix("F8_") ? .warn : .fail,
                    Self.labelled(
                        part.label, "\(what) packed (\(kind)); \(source) does not say so"),
                    file: source, tensor: first, expected: "a quantization", found: "nothing"))
        }
    }

    private func file(of tensor: ModelTensor, _ weights: StoredWeights) -> String {
        shown(weights.files[weights.tensors[tensor.members[0]].file].path)
    }

    private static func shown(_ shape: [Int?]) -> String {
        "[" + shape.map { $0.map(String.init) ?? "?" }.joined(separator: ", ") + "]"
    }

    private mutating func missing(_ need: TensorNeeds.Need, _ part: CheckedWeights) {
        let files = part.weights.files
        let index = files[0].format == .pickle ? TorchFolder.indexName : SafetensorsFolder.indexName
        let file = files.count == 1 || part.gguf != nil ? shown(files[0].path) : index
        add(
            .init(
                "tensors", .fail, Self.labelled(part.label, "tensor \"\(need.name)\" is missing"), file: file,
                tensor: need.name, expected: Self.shown(need.shape), found: "nothing"))
    }

    private mutating func compare(
        _ tensor: ModelTensor, _ need: TensorNeeds.Need, _ part: CheckedWeights, _ source: String
    ) {
        guard let shape = tensor.shape else { return }
        // The reader takes outer dimensions of one that are missing, or that are there beside what is needed.
        let (own, needed) = (shape.drop { $0 == 1 }, need.shape.drop { $0 == 1 })
        let fits = own.count == needed.count && zip(own, needed).allSatisfy { $1 == nil || $0 == $1 }
        guard !fits else { return }
        add(
            .init(
                "tensors", .fail,
                "tensor \"\(tensor.name)\" has the shape \(shape); \(source) says \(Self.shown(need.shape))",
                file: file(of: tensor, part.weights), tensor: tensor.name, expected: Self.shown(need.shape),
                found: "\(shape)"))
    }
}
