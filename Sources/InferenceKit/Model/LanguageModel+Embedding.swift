public import HubCore
import ModelFormats

extension LanguageModel {
    /// Whether it turns texts into vectors: an encoder, or a decoder that comes with sentence-transformers' files.
    public var embeds: Bool { model.sentences != nil && model.interaction == nil }

    /// The names of the prompts that the model has for texts, for ``EmbeddingOptions/promptName``.
    public var promptNames: [String] { model.sentences?.prompts.names ?? [] }

    /// How the model's vectors are compared.
    public var similarity: EmbeddingSimilarity { model.sentences?.prompts.similarity ?? .cosine }

    /// Texts as vectors, in their order, as sentence-transformers makes them. A longer text than the model takes is cut.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that does not embed, ``ErrorCode/invalidInput`` for a text
    ///   without tokens, for a prompt or a number of dimensions that the model does not have, ``ErrorCode/cancelled``.
    public func embed(
        _ texts: [String], options: EmbeddingOptions = EmbeddingOptions()
    ) async throws(AIError) -> [EmbeddingResult] {
        guard model.interaction == nil else {
            throw mismatch("it makes a vector of each token, and none of a text")
        }
        guard let sentences = model.sentences, let layers = model.sentenceLayers else {
            throw .unsupported(inspection.folder, "the model does not embed: it has no pooling")
        }
        return try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            var run = EmbeddingRun(model, sentences, layers, options, workspace)
            return try run.run(texts, isCancelled: isCancelled)
        }
    }
}
