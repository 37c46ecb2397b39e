public import HubCore
import ModelFormats

extension LanguageModel {
    /// Whether it turns texts into vectors: an encoder, or a decoder that comes with sentence-transformers' files.
    public var embeds: Bool { model.sentences != nil }

    /// Texts as vectors, in their order, as sentence-transformers makes them. A longer text than the model takes is cut.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that does not embed, ``ErrorCode/invalidInput`` for a text
    ///   without tokens, ``ErrorCode/cancelled``.
    public func embed(_ texts: [String]) async throws(AIError) -> [EmbeddingResult] {
        guard let sentences = model.sentences else {
            throw .unsupported(inspection.folder, "the model does not embed: it has no pooling")
        }
        return try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            var run = EmbeddingRun(model, sentences, workspace)
            return try run.run(texts, isCancelled: isCancelled)
        }
    }
}
