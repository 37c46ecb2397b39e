package import ModelFormats

/// What this version runs, for those who know of a model what its card, its file names and `config.json` say.
package enum RunnableModels {
    /// A main clause for people.
    package static let sentence = "hub runs Llama models in safetensors"

    /// By `model_type` in `config.json`.
    package static var architectures: Set<String> { DecoderDescription.architectures }

    /// What stands against running a model, memory aside. Where its headers were not read, they may add to it.
    package static func obstacles(_ sources: ModelSources) -> [String] { FolderReading.obstacles(sources) }

    /// Bytes that running needs, as ``LanguageModel/open(folder:options:)`` counts them, and with how many positions.
    ///
    /// - Parameter context: nil for what is taken without being asked.
    package static func memory(weightsBytes: Int64, _ configuration: ModelConfiguration, context: Int?) -> (
        bytes: Int64, context: Int
    ) {
        let context = context ?? min(configuration.maxPositions ?? 2048, ModelOptions.defaultContext)
        let estimate = MemoryEstimate(
            weightsBytes: weightsBytes, configuration: configuration, batch: Decoder.batch)
        return (estimate.bytes(context: context), context)
    }
}
