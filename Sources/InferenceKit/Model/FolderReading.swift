import HubCore
import ModelFormats

/// What a folder's headers and small files say, and what stands against running it. No weight is read.
struct FolderReading: Sendable {
    let folder: String
    let sources: ModelSources
    /// Safetensors that can be loaded by their names.
    let weights: SafetensorsFolder?
    let tokenizer: Tokenizer?
    /// Why there is none.
    private let tokenizerFault: AIError?
    let memory: MemoryEstimate
    /// Noun phrases: `architecture gpt2`, `GGUF weights (model.gguf)`.
    let obstacles: [String]
    /// How long the reading took.
    let seconds: Double

    var configuration: ModelConfiguration? { sources.configuration }

    /// Reads a folder or a single file.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` where there is nothing, ``ErrorCode/malformedModel`` for broken headers. What is
    ///   wrong with the tokenizer or single values of config.json is an obstacle; ``runnable()`` throws it.
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
            // A GGUF header tells the kind, and what a single file holds does not run yet.
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

    /// What stands against running a model, memory aside.
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

    /// A configuration that says more layers than the weights have.
    private static func missingLayers(_ weights: StoredWeights?, _ configuration: ModelConfiguration) -> String? {
        guard let weights, let told = configuration.layers, let held = LayerCount.held(weights.tensors.map(\.name)),
            held < told
        else { return nil }
        return LayerCount.sentence(held: held, told: told, by: Path.name(configuration.path))
    }

    /// Element types that there are no kernels for. Packed integers of a quantised model are named as its quantisation.
    private static func elementObstacles(_ weights: StoredWeights?, _ configuration: ModelConfiguration) -> [String]
    {
        guard let weights, configuration.quantization == nil else { return [] }
        return weights.dataTypes.keys.filter { type in
            TensorDataType(rawValue: type).flatMap(WeightMatrix.element) == nil
        }.map { "\($0) weights" }.sorted()
    }

    /// Everything that running needs.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for what is broken, ``ErrorCode/unsupportedModel`` with all obstacles.
    func runnable() throws(AIError) -> (
        configuration: ModelConfiguration, description: DecoderDescription, weights: SafetensorsFolder,
        tokenizer: Tokenizer
    ) {
        if let configuration, let fault = configuration.faults.first { throw .malformed(configuration.path, fault) }
        if let configuration, let fault = Self.missingLayers(sources.weights, configuration), obstacles == [fault] {
            throw .malformed(folder, fault)
        }
        // A broken tokenizer of a model that cannot run anyway is the smaller news.
        if let tokenizerFault, tokenizerFault.code != .unsupportedModel, obstacles.count == 1 {
            throw tokenizerFault
        }
        guard obstacles.isEmpty, let configuration, let weights, let tokenizer else {
            throw .unsupported(folder, "\(obstacles.joined(separator: ", ")) cannot be run yet")
        }
        return (configuration, try DecoderDescription(configuration), weights, tokenizer)
    }
}
