import HubCore
import ModelFormats

/// What every net's configuration says.
extension Settings {
    /// More rows or columns than any picture's for which a net was made.
    private static let sides = 1...32_768
    private static let mostBlocks = 10_000

    /// The name of a net of timm's.
    var timmName: String { configuration.timmName ?? "" }

    /// Completes a net of timm's: the size of its pictures, its labels, what stands before its names.
    ///
    /// - Parameters:
    ///   - classifier: the name of the classifier's tensors.
    ///   - first: the name of a tensor that every such net has.
    ///   - arguments: those of `model_args` that the description reads.
    /// - Throws: ``ErrorCode/malformedModel``.
    mutating func completeTimm(
        _ net: inout ConvolutionNet, classifier: String, first: String, arguments: Set<String> = []
    ) throws(AIError) {
        if let pool = text("global_pool"), pool != "avg" { refuse("global_pool", pool) }
        for (name, value) in object("model_args")?.members ?? [] where !arguments.contains(name) {
            // The number of classes is said twice; the rest of these only concerns training.
            guard !["num_classes", "drop_rate", "drop_path_rate", "pretrained"].contains(name) else { continue }
            refuse("model_args: \(name)", value.text())
        }
        let pictures = scope("pretrained_cfg")
        if let size = pictures?.places("input_size") {
            guard size.count == 3, size[0] == 3, Self.sides.contains(size[1]), Self.sides.contains(size[2]) else {
                throw .malformed(path, "pretrained_cfg: input_size is not 3 colours, rows and columns")
            }
            (net.height, net.width) = (size[1], size[2])
        }
        if stores("timm_model." + first) == true { net.prefix = "timm_model." }
        // What is wrong with it is told by the name that the file has.
        _ = count("num_classes", in: SettingLimits.places)
        net.labels = configuration.architectures.first == TimmConfiguration.bare ? nil : try labels()
        net.classifier = net.labels.map { .classifier(net.prefix + classifier, net.features, labels: $0.count) }
        net.unread = [net.prefix + classifier + "."]
    }

    /// Completes a net of transformers: its labels if its class has them, what stands before its names.
    ///
    /// - Parameters:
    ///   - classifier: the name of the classifier's tensors.
    ///   - first: the name of a tensor that every such net has.
    mutating func completeNet(
        _ net: inout ConvolutionNet, prefix: String, classifier: String, first: String
    ) throws(AIError) {
        if let channels = count("num_channels"), channels != 3 { refuse("num_channels", "\(channels)") }
        net.prefix = stores(first) == true ? "" : prefix
        net.unread = ["classifier."]
        if configuration.architectures.first?.hasSuffix("Model") == true || net.prefix.isEmpty { return }
        let labels = try labels()
        (net.labels, net.classifier) = (labels, .classifier(classifier, net.features, labels: labels.count))
    }

    /// Sizes of stages, one of each.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for none, or for what are no sizes.
    func stages(_ key: String, usual: [Int], count: Int? = nil) throws(AIError) -> [Int] {
        guard let list = value(key) else { return usual }
        var found: [Int] = []
        for value in list.array ?? [] { if let size = try size(value, key) { found.append(size) } }
        guard !found.isEmpty, found.count == list.array?.count, found.count == count ?? found.count else {
            throw .malformed(path, "\(key) is not a list of sizes of stages")
        }
        return found
    }

    /// Blocks of stages.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for none, or for more than any net has.
    func depths(_ key: String, usual: [Int]) throws(AIError) -> [Int] {
        let depths = try stages(key, usual: usual)
        guard depths.allSatisfy({ $0 <= Self.mostBlocks }), depths.reduce(0, +) <= Self.mostBlocks else {
            throw .malformed(path, "\(key) has more than \(Self.mostBlocks) blocks")
        }
        return depths
    }

    /// The activation that a setting names; the obstacle list gets an unknown one.
    mutating func netActivation(
        _ key: String, usual: ConvolutionNet.Activation
    ) -> ConvolutionNet.Activation {
        guard let named = text(key) else { return usual }
        guard let activation = Self.netActivations[named] else {
            refuse("activation", named)
            return usual
        }
        return activation
    }

    /// By the names of transformers and of timm.
    private static let netActivations: [String: ConvolutionNet.Activation] = [
        "relu": .relu, "relu6": .relu6, "silu": .silu, "swish": .silu, "gelu": .gelu, "gelu_new": .geluTanh,
        "gelu_pytorch_tanh": .geluTanh, "gelu_tanh": .geluTanh, "hard_swish": .hardSwish, "sigmoid": .sigmoid,
    ]
}
