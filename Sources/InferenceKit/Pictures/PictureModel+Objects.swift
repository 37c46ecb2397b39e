public import HubCore
public import HubMedia
import ModelFormats

/// What models do that find objects.
extension PictureModel {
    /// The score from which on objects are given where nothing else is asked for, as in transformers.
    public static let objectThreshold = 0.5

    /// The objects in a picture, the surest first.
    ///
    /// - Parameter threshold: their scores are above it.
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that finds none, ``ErrorCode/invalidInput`` for a picture that the
    ///   model has no room for, ``ErrorCode/generationFailed`` for outputs that are not finite, ``ErrorCode/cancelled``.
    public func objects(
        _ picture: Picture, threshold: Double = PictureModel.objectThreshold
    ) async throws(AIError) -> [FoundObject] {
        guard task == .objectDetection, let engine = engine as? any ObjectEngine else {
            throw .unsupported(inspection.folder, "the model is for \(task.rawValue); it finds no objects")
        }
        let labels = labels
        let rows = try await compute { isCancelled throws(AIError) in
            try engine.objects([picture], isCancelled: isCancelled)
        }
        let found = rows[0].map { FoundObject($0, labels, in: picture) }.filter { $0.score > threshold }
        // In the order of the rows where scores are equal.
        return found.enumerated().sorted { ($1.element.score, $0.offset) < ($0.element.score, $1.offset) }
            .map(\.element)
    }
}
