package import HubCore
package import ModelFormats

/// The models that this version runs, judged by card, file names and `config.json`.
package enum RunnableModels {
    /// The formats of weights that run, the preferred first.
    static let formats: [WeightFormat] = [.safetensors, .gguf, .mlx, .pickle]

    /// The obstacles to running a model, memory aside, by what is known before its download: those that a folder will
    /// have, but for what unread headers may add. A tokenizer is missed where nothing else stands in the way.
    package static func obstacles(_ outline: ModelSources) -> [RunObstacle] {
        let found = FolderReading.obstacles(outline)
        return found == [.noTokenizer] ? found : found.filter { $0 != .noTokenizer }
    }

    /// Bytes needed to run, as ``LanguageModel/open(folder:options:)`` counts them, and the number of positions.
    ///
    package static func memory(weightsBytes: Int64, _ configuration: ModelConfiguration, _ options: ModelOptions)
        -> (
            bytes: Int64, context: Int
        )
    {
        let context = options.context ?? min(configuration.maxPositions ?? 2048, ModelOptions.defaultContext)
        let estimate = MemoryEstimate(
            weightsBytes: weightsBytes, configuration: configuration, batch: Workspace.usualRows)
        return (estimate.bytes(context: context, cacheBits: options.usedCacheFormat.bits), context)
    }
}
