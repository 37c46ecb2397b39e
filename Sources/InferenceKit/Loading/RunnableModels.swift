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

    /// What running takes, as ``LanguageModel/open(folder:options:)`` counts it.
    package static func memory(
        weightsBytes: Int64, _ configuration: ModelConfiguration, _ options: ModelOptions = ModelOptions()
    ) -> MemoryNeed {
        let memory = ModelMemory(configuration, weightsBytes: weightsBytes)
        guard memory.isKnown else { return MemoryNeed(weightsBytes: weightsBytes) }
        let context = options.context ?? memory.usualContext
        return MemoryNeed(
            bytes: memory.bytes(context: context, format: options.usedCacheFormat), weightsBytes: weightsBytes,
            context: context)
    }

    /// The same with the usual options, for those who do not know this engine.
    package static let memoryRule = MemoryRule { memory(weightsBytes: $0, $1) }
}
