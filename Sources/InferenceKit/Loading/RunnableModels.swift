package import ModelFormats

/// The models that this version runs, judged by card, file names and `config.json`.
package enum RunnableModels {
    /// A sentence for people.
    package static let sentence = "hub runs Llama models in safetensors"

    /// By `model_type` in `config.json`.
    package static var architectures: Set<String> { DecoderDescription.architectures }

    /// The obstacles to running a model, memory aside. Unread headers may add more.
    package static func obstacles(_ sources: ModelSources) -> [String] { FolderReading.obstacles(sources) }

    /// Bytes needed to run, as ``LanguageModel/open(folder:options:)`` counts them, and the number of positions.
    ///
    /// - Parameter context: nil for the default.
    package static func memory(weightsBytes: Int64, _ configuration: ModelConfiguration, context: Int?) -> (
        bytes: Int64, context: Int
    ) {
        let context = context ?? min(configuration.maxPositions ?? 2048, ModelOptions.defaultContext)
        let estimate = MemoryEstimate(
            weightsBytes: weightsBytes, configuration: configuration, batch: Decoder.batch)
        return (estimate.bytes(context: context), context)
    }
}
