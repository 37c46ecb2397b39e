import ModelFormats

/// What a model takes in memory, as far as its configuration and headers tell: by the description that the forward pass
/// reads, or where there is none, by what `config.json` usually says.
struct ModelMemory: Sendable, Hashable {
    private enum Basis: Sendable, Hashable {
        /// - Parameter backbone: the net before it, one or none.
        case description(ModelDescription, isPacked: Bool, backbone: [ConvolutionNet])
        case net(PictureNet)
        case configuration(MemoryEstimate)
    }

    /// Bytes of the weights that are read.
    let weightsBytes: Int64
    /// The default context of ``LanguageModel/open(folder:options:)`` in positions.
    let usualContext: Int
    private let basis: Basis
    /// Whether anything but the weights is known.
    let isKnown: Bool

    /// By headers.
    ///
    /// - Parameter sentences: how texts become vectors, where files say so.
    init(_ sources: ModelSources, sentences: SentenceModules? = nil) {
        let stored = sources.weights.map { Set($0.tensors.map { TensorList.plain($0.name) }) }
        let all = sources.weightsBytes
        if let net = sources.configuration.flatMap({ Self.net($0, stored) }) {
            self.init(net, sources.weights.map(net.stored.storedBytes) ?? all)
            return
        }
        guard let configuration = sources.configuration,
            let (described, names, obstacles) = try? Architectures.textSide(of: configuration)?.describe(
                configuration, stored: stored)
        else {
            self.init(estimating: sources.configuration, all)
            return
        }
        let d = sentences == nil ? described : described.headless()
        var weights = all
        // Of a model that is not run it is not known which tensors are its own.
        if obstacles.isEmpty, let stored = sources.weights { weights = TensorList(stored).bytes(of: d, names) }
        // What is wrong with the files of layers is told when the model is opened.
        let layers = sentences.flatMap { try? SentenceLayers.weightsBytes($0) } ?? 0
        let backbone = Self.backbone(configuration, stored)
        if let backbone, let stored = sources.weights {
            weights = min(all, weights.addedClamped(backbone.storedBytes(stored)))
        }
        self.init(d, configuration, weights.addedClamped(layers), backbone)
    }

    /// By a configuration, before there are headers.
    init(_ configuration: ModelConfiguration, weightsBytes: Int64) {
        if let net = Self.net(configuration, nil) {
            self.init(net, weightsBytes)
        } else if let described = try? Architectures.textSide(of: configuration)?.describe(
            configuration, stored: nil)
        {
            self.init(
                described.description, configuration, weightsBytes, Self.backbone(configuration, nil))
        } else {
            self.init(estimating: configuration, weightsBytes)
        }
    }

    private init(
        _ d: ModelDescription, _ configuration: ModelConfiguration, _ weightsBytes: Int64,
        _ backbone: ConvolutionNet?
    ) {
        self.weightsBytes = weightsBytes
        basis = .description(
            d, isPacked: configuration.quantization != nil, backbone: [backbone].compactMap { $0 })
        // A picture's rows are those of what reads it.
        let positions = d.encoder?.pixels == nil ? d.maxPositions : d.encoder?.maxPositions ?? d.maxPositions
        usualContext = min(positions, ModelOptions.defaultContext)
        isKnown = true
    }

    private static func backbone(_ configuration: ModelConfiguration, _ stored: Set<String>?) -> ConvolutionNet? {
        (try? Backbones.of(configuration, stored: stored)) ?? nil
    }

    private static func net(_ configuration: ModelConfiguration, _ stored: Set<String>?) -> PictureNet? {
        (try? Nets.of(configuration)?.describe(configuration, stored: stored))?.net
    }

    /// Of a picture as large as those that a net was made for.
    private init(_ net: PictureNet, _ weightsBytes: Int64) {
        self.weightsBytes = weightsBytes
        basis = .net(net)
        (usualContext, isKnown) = (1, true)
    }

    private init(estimating configuration: ModelConfiguration?, _ weightsBytes: Int64) {
        self.weightsBytes = weightsBytes
        basis = .configuration(MemoryEstimate(weightsBytes: weightsBytes, configuration: configuration))
        usualContext = min(configuration?.maxPositions ?? 2048, ModelOptions.defaultContext)
        isKnown = MemoryNeed(weightsBytes: weightsBytes, configuration: configuration).context != nil
    }

    /// Bytes in all; at most `Int64.max`.
    ///
    /// - Parameters:
    ///   - texts: texts that are worked on at once.
    ///   - context: the positions of each.
    func bytes(texts: Int = 1, context: Int, format: KeyValueFormat) -> Int64 {
        switch basis {
        case .description, .net:
            use(texts: texts, context: context, format: format)?.bytes ?? weightsBytes
        case .configuration(let estimate): estimate.bytes(context: context, cacheBits: format.bits)
        }
    }

    /// The same part by part; nil where there is no description.
    func use(texts: Int = 1, context: Int, format: KeyValueFormat) -> MemoryUse? {
        if case .net(let net) = basis {
            return net.memory(weights: weightsBytes, format: format)
        }
        guard case .description(let d, let isPacked, let backbone) = basis else { return nil }
        let use = d.memory(
            weights: weightsBytes, isPacked: isPacked, texts: texts, context: context, format: format)
        return backbone.reduce(use) { use, net in
            let extent = ConvolutionExtent(net, height: 800, width: 1333)
            return use.added(to: net.memory(weights: 0, extent, format: format))
        }
    }

    /// Bytes of the KV cache per position in all layers: 0 for a model without one, nil if unknown.
    func cacheBytesPerPosition(_ format: KeyValueFormat) -> Int64? {
        switch basis {
        case .description(let d, _, _): d.cacheBytesPerPosition(format)
        case .net: 0
        case .configuration(let estimate):
            estimate.cacheBytesPerPosition.map { MemoryEstimate.cacheBytes($0, bits: format.bits) }
        }
    }
}

extension PictureNet {
    /// What running takes, with a picture as large as those that a net was made for.
    ///
    /// - Parameters:
    ///   - weights: bytes of the weights that are read.
    ///   - format: how a tower caches keys and values.
    func memory(weights: Int64, format: KeyValueFormat) -> MemoryUse {
        switch self {
        case .convolutions(let net): net.memory(weights: weights, format: format)
        case .windows(let net): net.memory(weights: weights, height: net.height, width: net.width)
        }
    }
}

extension ModelDescription {
    /// The same where files say how texts become vectors. Such models are often saved under the class that they were
    /// trained from.
    func headless() -> ModelDescription {
        var headless = self
        (headless.head, headless.task) = (nil, .embedding)
        return headless
    }
}
