import ModelFormats

/// The tensors that an architecture needs, by name and shape, with the names of transformers or GGUF.
/// https://github.com/huggingface/transformers/tree/main/src/transformers/models
/// https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py (`MODEL_TENSORS`)
struct TensorNeeds {
    struct Need: Hashable {
        let name: String
        /// nil for a dimension that the configuration does not give.
        let shape: [Int?]
        let isOptional: Bool
    }

    private(set) var needs: [Need] = []
    /// Layers after the last one, for multi-token prediction; loaders skip them.
    private var layersBehind: [String] = []
    /// Tensors that may be there, of other tasks or of no use.
    private var others: Set<String> = []
    /// Whether the class classifies or embeds texts, with a task-specific head.
    private let isSorter: Bool

    /// More tensors than any model has; a configuration that asks for more is not enumerated.
    private static let most = 400_000
    /// Suffixes of the classes whose head has the size of the vocabulary.
    private static let generators = ["ForCausalLM", "LMHeadModel", "ForConditionalGeneration"]

    /// nil for an unknown architecture, or a configuration without the sizes.
    init?(_ c: ModelConfiguration, names: some Sequence<String>, isGGUF: Bool) {
        if let family = Nets.of(c) {
            self.init(family, c, names: Set(names))
            return
        }
        // What a description cannot say may have a plan: OPT with a narrow embedding.
        let plans = isGGUF ? TensorPlan.gguf : TensorPlan.transformers
        let isPlanned = c.modelType.map { plans[$0] != nil } ?? false
        let isWhole = !isPlanned || Architectures.obstacles(c, stored: Set(names)).isEmpty
        if let architecture = Architectures.of(c), isWhole {
            self.init(architecture, c, names: Set(names))
        } else {
            self.init(planned: c, names: names, isGGUF: isGGUF)
        }
    }

    /// Of an architecture that runs: what it loads.
    private init?(_ architecture: Architecture, _ c: ModelConfiguration, names: Set<String>) {
        guard c.layers ?? 0 <= 10_000, let (d, kept, _) = try? architecture.describe(c, stored: names) else {
            return nil
        }
        // A family whose mixtures it cannot say.
        guard c.experts == nil || d.layers.contains(where: { $0.experts != nil }) else { return nil }
        isSorter = false
        let prefix = kept.prefix(in: names)
        for tensor in kept.stored(d, prefix: prefix) {
            let name = kept.outside.contains(tensor.role) ? Self.outside(tensor.name, names) : tensor.name
            needs.append(Need(name: name, shape: tensor.shape, isOptional: false))
        }
        if let net = (try? Backbones.of(c, stored: names)) ?? nil {
            needs += net.tensors.map { Need(name: $0.name, shape: $0.shape, isOptional: false) }
        }
        others = names.filter { kept.isOptional($0) || kept.isOtherHead($0, prefix: prefix) }
    }

    /// Of a net: what it loads.
    private init?(_ family: NetFamily, _ c: ModelConfiguration, names: Set<String>) {
        guard let (net, _) = try? family.describe(c, stored: names) else { return nil }
        isSorter = false
        let stored = net.stored
        needs = stored.tensors.map { Need(name: $0.name, shape: $0.shape, isOptional: false) }
        guard case .convolutions(let net) = net, let tower = net.tower else {
            others = names.filter(stored.isBeside)
            return
        }
        for tensor in tower.names.stored(tower.description, prefix: tower.names.prefix) {
            needs.append(Need(name: tensor.name, shape: tensor.shape, isOptional: false))
        }
        others = names.filter { name in
            net.unread.contains { name.hasPrefix($0) } || tower.names.isOptional(name)
                || tower.names.isOtherHead(name, prefix: tower.names.prefix)
        }
    }

    private init?(planned c: ModelConfiguration, names: some Sequence<String>, isGGUF: Bool) {
        let plans = isGGUF ? TensorPlan.gguf : TensorPlan.transformers
        guard let plan = c.modelType.flatMap({ plans[$0] }), c.hiddenSize != nil, c.vocabulary != nil,
            let layers = c.layers, layers <= 10_000
        else { return nil }
        isSorter = !Self.generators.contains { c.architectures.first?.hasSuffix($0) == true }
        let names = Set(names)
        let sizes = TensorSizes(configuration: c, defaults: plan.defaults, names: names)
        let found = isGGUF ? "" : Self.prefix(names, plan.mark)
        let prefix = found ?? plan.prefix
        for line in TensorLine.parse(plan.top, sizes) {
            // A checkpoint of the bare decoder has no head, whatever class its configuration names.
            let isHeadless = !Self.hasHead(c) || found == "" && !plan.prefix.isEmpty
            let name = line.isOutside ? Self.outside(line.name, names) : prefix + line.name
            needs.append(
                Need(name: name, shape: line.shape, isOptional: line.isOptional || line.isOutside && isHeadless))
        }
        for stack in plan.stacks {
            let count = stack.count.map { sizes.setting($0) } ?? layers
            let lines = TensorLine.parse(stack.lines, sizes)
            let experts = c.experts ?? 0
            let each = lines.reduce(0.0) { $0 + ($1.name.contains("#") ? Double(experts) : 1) }
            guard let count, each * Double(count) <= Double(Self.most) else { return nil }
            for layer in 0..<count {
                let place = "\(prefix)\(stack.name)\(layer)."
                for line in lines where line.traits.allSatisfy({ sizes.layer(layer, is: $0) == $1 }) {
                    add(place, line, experts)
                }
            }
            for behind in 0..<min(8, sizes.setting("num_nextn_predict_layers") ?? 0) {
                layersBehind.append("\(prefix)\(stack.name)\(count + behind).")
            }
        }
    }

    private mutating func add(_ place: String, _ line: TensorLine, _ experts: Int) {
        let parts = line.name.split(separator: "#", maxSplits: 1)
        guard parts.count == 2 else {
            needs.append(Need(name: place + line.name, shape: line.shape, isOptional: line.isOptional))
            return
        }
        for expert in 0..<experts {
            let name = "\(place)\(parts[0])\(expert)\(parts[1])"
            needs.append(Need(name: name, shape: line.shape, isOptional: line.isOptional))
        }
    }

    /// Whether a tensor belongs to an unchecked part: a buffer, a vision or audio encoder and its connector,
    /// multi-token prediction.
    func isBeside(_ name: String) -> Bool {
        [.buffer, .vision, .audio].contains(TensorPart(name)) || name.contains("multi_modal_projector")
            || isSorter && TensorPart(name) == .head || name.hasPrefix("mtp.")
            || layersBehind.contains { name.hasPrefix($0) } || others.contains(name)
    }

    private static func hasHead(_ c: ModelConfiguration) -> Bool {
        c.tiedEmbeddings != true && generators.contains { c.architectures.first?.hasSuffix($0) == true }
    }

    /// The prefix before the mark in the shortest name that ends in it.
    private static func prefix(_ names: Set<String>, _ mark: String) -> String? {
        shortest(names, mark).map { String($0.dropLast(mark.count)) }
    }

    /// The name in the checkpoint, with any prefix.
    private static func outside(_ name: String, _ names: Set<String>) -> String { shortest(names, name) ?? name }

    private static func shortest(_ names: Set<String>, _ ending: String) -> String? {
        names.filter {
            $0.hasSuffix(ending) && ($0.count == ending.count || $0.dropLast(ending.count).hasSuffix("."))
        }
        .min { ($0.count, $0) < ($1.count, $1) }
    }
}
