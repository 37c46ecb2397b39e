package import ModelFormats

/// The models that this version runs, judged by card, file names and `config.json`.
package enum RunnableModels {
    /// A sentence for people.
    package static let sentence: String = {
        let names = Architectures.all.map(\.name)
        return "hub runs \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "") models"
    }()

    /// By `model_type` in `config.json`.
    package static var architectures: Set<String> { Architectures.modelTypes }

    /// Whether an architecture runs, by `model_type` in `config.json`.
    package static func runs(_ modelType: String, asGGUF: Bool) -> Bool {
        Architectures.all.contains { $0.modelTypes.contains(modelType) && (!asGGUF || $0.runsAsGGUF) }
    }

    /// The obstacles to running a model, memory aside. Unread headers may add more.
    package static func obstacles(_ sources: ModelSources) -> [String] { FolderReading.obstacles(sources) }

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
