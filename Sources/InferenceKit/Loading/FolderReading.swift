import HubCore
import HubTokenizers
import ModelFormats

/// The metadata of a folder from headers and small files, and the obstacles to running it. No weight is read.
struct FolderReading: Sendable {
    let folder: String
    let sources: ModelSources
    let tokenizer: Tokenizer?
    /// Why there is no tokenizer.
    private let tokenizerFault: AIError?
    let memory: ModelMemory
    let obstacles: [RunObstacle]
    /// Seconds that reading took.
    let seconds: Double

    var configuration: ModelConfiguration? { sources.configuration }
    /// Whether it reads series of numbers, and no text.
    var forecasts: Bool { configuration.map(Architectures.forecasts) ?? false }
    /// Whether it reads pictures alone.
    var sees: Bool { configuration.map(Architectures.sees) ?? false }

    /// Reads a folder or a single file.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` if there is nothing, ``ErrorCode/malformedModel`` for broken headers.
    ///   Faults of the tokenizer or of values in config.json are obstacles; ``runnable()`` throws it.
    init(_ folder: String) throws(AIError) {
        let start = Clock.seconds
        guard let status = try FileSystem.status(folder) else {
            throw AIError(.fileNotFound, "\(folder) does not exist", context: .init(path: folder))
        }
        self.folder = folder
        var sources =
            status.kind == .directory
            ? try ModelSources.read(folder: folder) : try ModelSources.read(file: folder, size: status.size)
        (tokenizer, tokenizerFault, sources.tokenizerFault) =
            sources.configuration.map(Architectures.readsTexts) ?? true
            ? Self.tokenizer(folder, sources) : (nil, nil, nil)
        sources.tokenizerKind = tokenizer?.kind ?? sources.tokenizerKind
        obstacles = Self.obstacles(sources)
        memory = ModelMemory(sources, sentences: Self.modules(folder, sources))
        self.sources = sources
        seconds = Clock.seconds - start
    }

    /// - Parameter folder: or a file.
    private static func tokenizer(_ folder: String, _ sources: ModelSources) -> (
        Tokenizer?, fault: AIError?, obstacle: RunObstacle?
    ) {
        do throws(AIError) {
            // A GGUF file is complete; a tokenizer.json beside it may be another model's.
            let isGGUF = sources.configuration?.isGGUF == true
            let source =
                isGGUF
                ? sources.weights?.files.first.map { TokenizerSource.gguf($0.path) }
                : try TokenizerSource.find(folder)
            var lowercases = isGGUF ? false : try SentenceSettings(folder: folder).lowercases
            if let configuration = sources.configuration, Architectures.of(configuration)?.lowercases == true {
                lowercases = true
            }
            if let found = try Tokenizer(source, lowercases: lowercases) { return (found, nil, nil) }
            let missing = try Tokenizer.missing(folder)
            return (nil, missing, missing.code == .unsupportedModel ? RunObstacle(missing) : .noTokenizer)
        } catch {
            return (nil, error, RunObstacle(error))
        }
    }

    /// The obstacles to running a model, memory aside.
    static func obstacles(_ sources: ModelSources) -> [RunObstacle] {
        var obstacles: [RunObstacle] = []
        if let fault = sources.weightsFault {
            obstacles = [RunObstacle(fault)]
        } else if !sources.isLoadable {
            obstacles =
                sources.isAdapter
                ? [.adapter] : sources.formats.isEmpty ? [.noWeights] : sources.formats.map(obstacle)
        }
        if let configuration = sources.configuration {
            let stored = sources.weights.map { Set($0.tensors.map { TensorList.plain($0.name) }) }
            obstacles += Architectures.obstacles(configuration, stored: stored)
            obstacles += configuration.faults.map { .broken(file: Path.name(configuration.path), fault: $0) }
            // Of a net the number in its configuration counts something else, and its blocks are known one by one.
            if Nets.of(configuration) == nil, let missing = missingLayers(sources.weights, configuration) {
                obstacles.append(missing)
            }
            if sources.isLoadable { obstacles += elementObstacles(sources.weights, configuration) }
        } else if sources.isLoadable {
            obstacles.append(.noConfiguration)
        }
        let readsTexts = sources.configuration.map(Architectures.readsTexts) ?? true
        if let fault = sources.tokenizerFault, readsTexts { obstacles.append(fault) }
        return obstacles + directions(sources)
    }

    /// Why weights that cannot be opened are not.
    private static func obstacle(_ found: ModelSources.Format) -> RunObstacle {
        switch found.format {
        case .safetensors, .pickle: .otherNames(file: found.evidence)
        default: .format(found.format.supportedName, file: found.evidence)
        }
    }

    /// Refuses bidirectional models that generate. Embedding models are often saved under the class that they were trained
    /// from; their files say how texts become vectors.
    private static func directions(_ sources: ModelSources) -> [RunObstacle] {
        guard let configuration = sources.configuration, !sources.makesVectors,
            let d = try? Architectures.of(configuration)?.describe(configuration, stored: nil).description,
            d.generatesFromBothSides
        else { return [] }
        return [.setting("is_causal", "false in a model that generates")]
    }

    /// Reports a configuration with more layers than the weights have.
    private static func missingLayers(_ weights: StoredWeights?, _ configuration: ModelConfiguration)
        -> RunObstacle?
    {
        guard let weights, let told = configuration.layers, let held = LayerCount.held(weights.tensors.map(\.name)),
            held < told
        else { return nil }
        return .missingLayers(held: held, told: told, file: Path.name(configuration.path))
    }

    /// Types of weights without kernels. Other packings than MLX's are judged by their methods.
    private static func elementObstacles(_ weights: StoredWeights?, _ configuration: ModelConfiguration)
        -> [RunObstacle]
    {
        guard let weights, configuration.quantization?.isMLX ?? true else { return [] }
        return WeightFormats.missing(weights, isMLX: configuration.quantization != nil).map { .elementType($0) }
    }

    /// How texts become vectors, for the estimate of memory. Of a GGUF file its header says so, which would be read again
    /// for it: the head of such a model, which is not run, counts too.
    private static func modules(_ folder: String, _ sources: ModelSources) -> SentenceModules? {
        guard sources.configuration?.isGGUF == false else { return nil }
        // What is wrong with them is told when the model is opened.
        return (try? SentenceModules.read(folder: folder, for: sources.configuration?.architectures.first)) ?? nil
    }

    /// How texts become vectors, if the files say.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for modules that cannot be run, ``ErrorCode/malformedModel``.
    func sentences() throws(AIError) -> SentenceModules? {
        let found: SentenceModules?
        if configuration?.isGGUF == true, let path = sources.weights?.files.first?.path {
            found = SentenceModules(try GGUFFile(path).header)
        } else {
            found = try SentenceModules.read(folder: folder, for: configuration?.architectures.first)
        }
        if let obstacles = found?.obstacles, !obstacles.isEmpty {
            throw .unsupported(folder, obstacles)
        }
        return found
    }

    /// Everything that running needs.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for broken files, ``ErrorCode/unsupportedModel`` with all obstacles.
    func runnable() throws(AIError) -> (
        configuration: ModelConfiguration, description: ModelDescription, names: TensorNames,
        weights: StoredWeights
    ) {
        if let configuration, let fault = configuration.faults.first { throw .malformed(configuration.path, fault) }
        // What contradicts itself is an obstacle too; it throws by itself.
        if let configuration, let architecture = Architectures.of(configuration) {
            _ = try architecture.describe(configuration, stored: nil)
        }
        guard obstacles.isEmpty, let configuration, let architecture = Architectures.of(configuration),
            let weights = sources.weights
        else { throw refusal }
        let stored = Set(weights.tensors.map { TensorList.plain($0.name) })
        let (description, names, _) = try architecture.describe(configuration, stored: stored)
        return (configuration, description, names, weights)
    }

    /// A net, and the weights that it needs; nil for another model.
    ///
    /// - Throws: what ``runnable()`` throws.
    func runnableNet() throws(AIError) -> (net: PictureNet, weights: StoredWeights)? {
        guard let configuration, let family = Nets.of(configuration) else { return nil }
        if let fault = configuration.faults.first { throw .malformed(configuration.path, fault) }
        let stored = sources.weights.map { Set($0.tensors.map { TensorList.plain($0.name) }) }
        let (net, _) = try family.describe(configuration, stored: stored)
        guard obstacles.isEmpty, let weights = sources.weights else { throw refusal }
        return (net, weights)
    }

    /// The error of a model with obstacles. One that cannot be run anyway is not told what is broken of it.
    private var refusal: AIError {
        if let fault = sources.weightsFault, obstacles == [RunObstacle(fault)] { return fault }
        guard let first = obstacles.first, obstacles.allSatisfy({ $0.code == .malformedModel }) else {
            return .unsupported(folder, obstacles)
        }
        if first == sources.tokenizerFault, let tokenizerFault { return tokenizerFault }
        return .malformed(folder, first.text)
    }

    /// Checks that weights, KV cache and scratch memory fit.
    ///
    /// - Parameter context: in tokens.
    /// - Throws: ``ErrorCode/insufficientMemory``.
    func checkMemory(_ options: ModelOptions, context: Int) throws(AIError) {
        try checkMemory(
            options, needed: memory.bytes(context: context, format: options.usedCacheFormat), context: context)
    }

    /// The same, of what is known to be needed.
    ///
    /// - Parameters:
    ///   - needed: in bytes.
    ///   - context: what it is for, in tokens.
    /// - Throws: ``ErrorCode/insufficientMemory``.
    func checkMemory(_ options: ModelOptions, needed: Int64, context: Int) throws(AIError) {
        let available: Int64
        if let given = options.availableMemory {
            available = given
        } else {
            available = try Machine.memory().available
        }
        guard needed <= available else {
            let length = sees ? "" : " with a context of \(context.grouped) tokens"
            throw AIError(
                .insufficientMemory,
                "\(folder) needs \(ByteCount(needed)) of memory\(length); \(ByteCount(available)) is available",
                advice:
                    "close other programs, \(sees ? "" : "ask for a shorter context, ")or choose a smaller model",
                context: .init(path: folder))
        }
    }
}
