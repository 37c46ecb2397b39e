import HubCore
import HubTokenizers
import ModelFormats

/// The metadata of a folder from headers and small files, and the obstacles to running it. No weight is read.
struct FolderReading: Sendable {
    let folder: String
    let sources: ModelSources
    /// The loadable safetensors.
    let weights: SafetensorsFolder?
    let tokenizer: Tokenizer?
    /// Why there is no tokenizer.
    private let tokenizerFault: AIError?
    let memory: MemoryEstimate
    /// Noun phrases: `architecture gpt2`, `GGUF weights (model.gguf)`.
    let obstacles: [String]
    /// Seconds that reading took.
    let seconds: Double

    var configuration: ModelConfiguration? { sources.configuration }

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
        var sources: ModelSources
        if status.kind == .directory {
            (sources, weights) = try ModelSources.read(folder: folder)
        } else {
            (sources, weights) = (try ModelSources.read(file: folder, size: status.size), nil)
        }
        if status.kind == .directory, sources.tokenizerKind == nil {
            let obstacle: String?
            (tokenizer, tokenizerFault, obstacle) = Self.tokenizer(folder)
            sources.tokenizerKind = tokenizer?.kind
            if let obstacle { sources.faults.append(obstacle) }
        } else {
            // The GGUF header names the kind; single files do not run yet.
            (tokenizer, tokenizerFault) = (nil, nil)
        }
        obstacles = Self.obstacles(sources)
        memory = ModelSummary(sources, batch: Decoder.batch).memory
        self.sources = sources
        seconds = Clock.seconds - start
    }

    private static func tokenizer(_ folder: String) -> (Tokenizer?, fault: AIError?, obstacle: String?) {
        do throws(AIError) {
            if let found = try Tokenizer(TokenizerSource.find(folder)) { return (found, nil, nil) }
            let missing = Tokenizer.missing(folder)
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
        if !sources.isLoadable {
            obstacles = sources.formats.map { "\($0.format.rawValue) weights (\($0.evidence))" }
            if sources.formats.isEmpty { obstacles = ["no weights"] }
        }
        if let configuration = sources.configuration {
            obstacles += DecoderDescription.obstacles(configuration)
            obstacles += configuration.faults.map { "\(Path.name(configuration.path)): \($0)" }
            if let missing = missingLayers(sources.weights, configuration) { obstacles.append(missing) }
            if sources.isLoadable { obstacles += elementObstacles(sources.weights, configuration) }
        } else if sources.isLoadable {
            obstacles.append("no config.json")
        }
        return obstacles + sources.faults
    }

    /// Reports a configuration with more layers than the weights have.
    private static func missingLayers(_ weights: StoredWeights?, _ configuration: ModelConfiguration) -> String? {
        guard let weights, let told = configuration.layers, let held = LayerCount.held(weights.tensors.map(\.name)),
            held < told
        else { return nil }
        return LayerCount.sentence(held: held, told: told, by: Path.name(configuration.path))
    }

    /// Element types without kernels. Packed integers of a quantised model are reported as its quantisation.
    private static func elementObstacles(_ weights: StoredWeights?, _ configuration: ModelConfiguration) -> [String]
    {
        guard let weights, configuration.quantization == nil else { return [] }
        return weights.dataTypes.keys.filter { type in
            TensorDataType(rawValue: type).flatMap(WeightMatrix.element) == nil
        }.map { "\($0) weights" }.sorted()
    }

    /// Everything that running needs.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for broken files, ``ErrorCode/unsupportedModel`` with all obstacles.
    func runnable() throws(AIError) -> (
        configuration: ModelConfiguration, description: DecoderDescription, weights: SafetensorsFolder,
        tokenizer: Tokenizer
    ) {
        if let configuration, let fault = configuration.faults.first { throw .malformed(configuration.path, fault) }
        // Missing layers are an obstacle too; here they are the only one.
        if obstacles.count == 1, let configuration,
            let fault = Self.missingLayers(sources.weights, configuration)
        {
            throw .malformed(folder, fault)
        }
        // If the model cannot run anyway, its obstacles matter more than a broken tokenizer.
        if let tokenizerFault, tokenizerFault.code != .unsupportedModel, obstacles.count == 1 {
            throw tokenizerFault
        }
        guard obstacles.isEmpty, let configuration, let weights, let tokenizer else {
            throw .unsupported(folder, "\(obstacles.joined(separator: ", ")) cannot be run yet")
        }
        return (configuration, try DecoderDescription(configuration), weights, tokenizer)
    }
}
