import HubCore
import ModelFormats

/// What a folder's headers and small files say, and what stands against running it. No weight is read.
struct FolderReading: Sendable {
    let folder: String
    let formats: [WeightFormat]
    let configuration: ModelConfiguration?
    let weights: SafetensorsFolder?
    let tokenizer: Tokenizer?
    let memory: MemoryEstimate
    /// Noun phrases: `architecture gpt2`, `GGUF weights (model.gguf)`.
    let obstacles: [String]
    /// How long the reading took.
    let seconds: Double

    /// Reads a folder, or says what a single file is.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` where there is nothing, ``ErrorCode/malformedModel`` for what is broken.
    init(_ folder: String) throws(AIError) {
        let start = Machine.seconds
        guard let status = try FileSystem.status(folder) else {
            throw AIError(.fileNotFound, "there is nothing at \(folder)", context: .init(path: folder))
        }
        if status.kind != .directory {
            let kind = WeightFormat(fileName: Path.name(folder))?.rawValue ?? "unknown"
            throw .unsupported(folder, "a single file (\(kind)) cannot be run yet; name a model's folder")
        }
        self.folder = folder
        let found = try WeightFormat.inFolder(folder)
        formats = found.map(\.format)
        configuration = try ModelConfiguration.read(folder: folder)
        // A link that leads nowhere counts: it is broken, not absent.
        let index = try FileSystem.linkStatus(Path.join(folder, SafetensorsFolder.indexName))
        let single = try FileSystem.linkStatus(Path.join(folder, SafetensorsFolder.singleName))
        let hasWeights = index != nil || single != nil
        weights = hasWeights ? try SafetensorsFolder(folder) : nil
        if !hasWeights, let shard = found.first(where: { $0.format == .safetensors })?.evidence,
            shard.contains("-of-")
        {
            throw .malformed(
                folder, "\(SafetensorsFolder.indexName) is missing, though there are shards (\(shard))")
        }

        var obstacles: [String] = []
        if weights == nil {
            obstacles = found.map { "\($0.format.rawValue) weights (\($0.evidence))" }
            if found.isEmpty { obstacles = ["a folder without weights"] }
        }
        if let configuration {
            obstacles += DecoderDescription.obstacles(configuration)
            obstacles += Self.elementObstacles(weights, configuration)
        } else if weights != nil {
            obstacles.append("a folder without config.json")
        }
        do throws(AIError) {
            tokenizer = try Tokenizer(folder: folder)
        } catch {
            tokenizer = nil
            // A broken tokenizer of a model that cannot run anyway is the smaller news.
            if obstacles.isEmpty && error.code == .malformedModel { throw error }
            obstacles.append(error.code == .unsupportedModel ? error.message : "a folder without tokenizer.json")
        }
        self.obstacles = obstacles
        memory = MemoryEstimate(
            weightsBytes: weights?.tensorBytes ?? 0, configuration: configuration, batch: Decoder.batch)
        seconds = Machine.seconds - start
    }

    /// Element types that there are no kernels for. Packed integers of a quantised model are named as its quantisation.
    private static func elementObstacles(_ weights: SafetensorsFolder?, _ configuration: ModelConfiguration)
        -> [String]
    {
        guard let weights, configuration.quantization == nil else { return [] }
        let types = Set(weights.tensors.values.map(\.info.dataType)).filter { WeightMatrix.element($0) == nil }
        return types.map { "\($0.rawValue) weights" }.sorted()
    }

    /// Everything that running needs.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` with all obstacles.
    func runnable() throws(AIError) -> (
        configuration: ModelConfiguration, description: DecoderDescription, weights: SafetensorsFolder,
        tokenizer: Tokenizer
    ) {
        guard obstacles.isEmpty, let configuration, let weights, let tokenizer else {
            throw .unsupported(folder, "\(obstacles.joined(separator: ", ")) cannot be run yet")
        }
        return (configuration, try DecoderDescription(configuration), weights, tokenizer)
    }
}
