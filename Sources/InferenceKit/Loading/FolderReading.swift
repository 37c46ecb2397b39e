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
    /// Noun phrases: `architecture gpt2`, `GGUF weights (model.gguf)`.
    let obstacles: [String]
    /// Seconds that reading took.
    let seconds: Double

    var configuration: ModelConfiguration? { sources.configuration }
    /// Whether it reads series of numbers, and no text.
    var forecasts: Bool { configuration.map(Architectures.forecasts) ?? false }

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
        let obstacle: String?
        (tokenizer, tokenizerFault, obstacle) =
            sources.configuration.map(Architectures.forecasts) ?? false
            ? (nil, nil, nil) : Self.tokenizer(folder, sources)
        sources.tokenizerKind = tokenizer?.kind ?? sources.tokenizerKind
        if let obstacle { sources.faults.append(obstacle) }
        obstacles = Self.obstacles(sources) + Self.directions(folder, sources)
        memory = ModelMemory(sources, sentences: Self.modules(folder, sources))
        self.sources = sources
        seconds = Clock.seconds - start
    }

    /// - Parameter folder: or a file.
    private static func tokenizer(_ folder: String, _ sources: ModelSources) -> (
        Tokenizer?, fault: AIError?, obstacle: String?
    ) {
        do throws(AIError) {
            // A GGUF file is complete; a tokenizer.json beside it may be another model's.
            let isGGUF = sources.configuration?.isGGUF == true
            let source =
                isGGUF
                ? sources.weights?.files.first.map { TokenizerSource.gguf($0.path) }
                : try TokenizerSource.find(folder)
            let lowercases = isGGUF ? false : try SentenceSettings(folder: folder).lowercases
            if let found = try Tokenizer(source, lowercases: lowercases) { return (found, nil, nil) }
            let missing = try Tokenizer.missing(folder)
            return (
                nil, missing, missing.code == .unsupportedModel ? missing.message : TokenizerKind.none
            )
        } catch {
            return (nil, error, error.message)
        }
    }

    /// The obstacles to running a model, memory aside.
    static func obstacles(_ sources: ModelSources) -> [String] {
        var obstacles: [String] = []
        if let fault = sources.weightsFault {
            let folder = sources.name + "/"
            obstacles = [
                fault.message.hasPrefix(folder) ? String(fault.message.dropFirst(folder.count)) : fault.message
            ]
        } else if !sources.isLoadable {
            obstacles = sources.formats.map { "\($0.format.rawValue) weights (\($0.evidence))" }
            if sources.formats.isEmpty { obstacles = ["no weights"] }
        }
        if let configuration = sources.configuration {
            let stored = sources.weights.map { Set($0.tensors.map { TensorList.plain($0.name) }) }
            obstacles += Architectures.obstacles(configuration, stored: stored)
            obstacles += configuration.faults.map { "\(Path.name(configuration.path)): \($0)" }
            if let missing = missingLayers(sources.weights, configuration) { obstacles.append(missing) }
            if sources.isLoadable { obstacles += elementObstacles(sources.weights, configuration) }
        } else if sources.isLoadable {
            obstacles.append("no config.json")
        }
        return obstacles + sources.faults
    }

    /// Models for vectors are often saved under the class that they were trained from; modules tell.
    private static func directions(_ folder: String, _ sources: ModelSources) -> [String] {
        guard let configuration = sources.configuration,
            let d = try? Architectures.of(configuration)?.describe(configuration, stored: nil).description,
            d.generatesFromBothSides, !FileSystem.exists(Path.join(folder, "modules.json"))
        else { return [] }
        return ["is_causal false in a model that generates"]
    }

    /// Reports a configuration with more layers than the weights have.
    private static func missingLayers(_ weights: StoredWeights?, _ configuration: ModelConfiguration) -> String? {
        guard let weights, let told = configuration.layers, let held = LayerCount.held(weights.tensors.map(\.name)),
            held < told
        else { return nil }
        return LayerCount.sentence(held: held, told: told, by: Path.name(configuration.path))
    }

    /// Types of weights without kernels. Other quantisations than MLX's are obstacles themselves.
    private static func elementObstacles(_ weights: StoredWeights?, _ configuration: ModelConfiguration) -> [String]
    {
        guard let weights else { return [] }
        guard let quantization = configuration.quantization else {
            return WeightFormats.missing(weights, isMLX: false).map { "\($0) weights" }
        }
        return quantization.isMLX ? WeightFormats.missing(weights, isMLX: true).map { "\($0) weights" } : []
    }

    /// How texts become vectors, for the estimate of memory. Of a GGUF file its header says so, which would be read again
    /// for it: the head of such a model, which is not run, counts too.
    private static func modules(_ folder: String, _ sources: ModelSources) -> SentenceModules? {
        guard sources.configuration?.isGGUF == false else { return nil }
        // What is wrong with them is told when the model is opened.
        return (try? SentenceModules.read(folder: folder)) ?? nil
    }

    /// How texts become vectors, if the files say.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for modules that cannot be run, ``ErrorCode/malformedModel``.
    func sentences() throws(AIError) -> SentenceModules? {
        let found: SentenceModules?
        if configuration?.isGGUF == true, let path = sources.weights?.files.first?.path {
            found = SentenceModules(try GGUFFile(path).header)
        } else {
            found = try SentenceModules.read(folder: folder)
        }
        if let obstacles = found?.obstacles, !obstacles.isEmpty {
            throw .unsupported(folder, "\(obstacles.joined(separator: ", ")) cannot be run yet")
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
        // Missing layers are an obstacle too; here they are the only one.
        if obstacles.count == 1, let configuration,
            let fault = Self.missingLayers(sources.weights, configuration)
        {
            throw .malformed(folder, fault)
        }
        if obstacles.count == 1, let fault = sources.weightsFault { throw fault }
        // If the model cannot run anyway, its obstacles matter more than a broken tokenizer.
        if let tokenizerFault, tokenizerFault.code != .unsupportedModel, obstacles.count == 1 {
            throw tokenizerFault
        }
        guard obstacles.isEmpty, let configuration, let architecture = Architectures.of(configuration),
            let weights = sources.weights
        else {
            throw .unsupported(folder, "\(obstacles.joined(separator: ", ")) cannot be run yet")
        }
        let stored = Set(weights.tensors.map { TensorList.plain($0.name) })
        let (description, names, _) = try architecture.describe(configuration, stored: stored)
        return (configuration, description, names, weights)
    }

    /// - Throws: ``ErrorCode/insufficientMemory``.
    func checkMemory(_ options: ModelOptions, context: Int) throws(AIError) {
        let needed = memory.bytes(context: context, format: options.usedCacheFormat)
        let available: Int64
        if let given = options.availableMemory {
            available = given
        } else {
            available = try Machine.memory().available
        }
        guard needed <= available else {
            throw AIError(
                .insufficientMemory,
                "\(folder) needs \(ByteCount(needed)) of memory with a context of \(context) tokens; "
                    + "\(ByteCount(available)) is available",
                advice: "close other programs, ask for a shorter context, or choose a smaller model",
                context: .init(path: folder))
        }
    }
}
