public import HubCore
public import HubMedia
import ModelFormats

/// What models do that have vectors of texts and of pictures in one space.
extension PictureModel {
    /// Whether labels of one's own can be tried on pictures.
    public var takesLabels: Bool { texts != nil }

    /// Labels to try on pictures: each is put in a sentence, and that becomes a vector.
    ///
    /// - Parameters:
    ///   - names: the labels.
    ///   - template: the sentence, with `{}` in the label's place.
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model of pictures alone, ``ErrorCode/invalidInput`` without labels or
    ///   for a template without `{}`, and what ``LanguageModel/embed(_:options:)`` throws.
    public func labels(
        _ names: [String], template: String = PictureModel.labelTemplate
    ) async throws(AIError) -> TriedLabels {
        guard !names.isEmpty else { throw AIError(.invalidInput, "there are no labels to try") }
        guard template.contains("{}") else { throw AIError(.invalidInput, "the template has no {}") }
        let sentences = names.map { template.replacing("{}", with: $0) }
        return TriedLabels(names: names, vectors: try await embed(texts: sentences))
    }

    /// Which of some labels fits pictures, of each all of them, best first: the sentences' vectors are compared with the
    /// picture's. The scores of a picture add up to 1, but with SigLIP, which was trained to say of each pair whether it
    /// fits.
    ///
    /// - Parameter labels: made by this model.
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model of pictures alone, and what ``embed(_:normalizes:)`` throws.
    public func classify(_ pictures: [Picture], as labels: TriedLabels) async throws(AIError) -> [[TextLabel]] {
        guard let similarity = engine.similarity else { throw noTexts }
        let scores = similarity.isOfPairs ? LabelScores.sigmoid : .softmax
        return try await embed(pictures).map { picture in
            LanguageModel.labels(
                labels.names, labels.vectors.map { similarity.logit($0.cosineSimilarity(to: picture) ?? 0) },
                scores)
        }
    }

    /// The sentence in which labels are tried.
    public static let labelTemplate = "This is a photo of {}."

    /// Texts as vectors in the space of those of pictures, in their order. Longer texts than the model takes are cut.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model of pictures alone, and what
    ///   ``LanguageModel/embed(_:options:)`` throws.
    public func embed(
        texts list: [String], options: EmbeddingOptions = EmbeddingOptions()
    ) async throws(AIError) -> [EmbeddingResult] {
        guard let texts else { throw noTexts }
        return try await texts.embed(list, options: options)
    }

    private var noTexts: AIError {
        .unsupported(inspection.folder, "the model is for \(task.rawValue); it reads no texts")
    }
}

/// Labels that a model tries on pictures.
public struct TriedLabels: Sendable, Hashable {
    /// The labels.
    public let names: [String]
    let vectors: [EmbeddingResult]
}
