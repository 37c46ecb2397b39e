import HubCore
import HubMedia

/// What computes pictures for a ``PictureModel``. Used on its queue alone.
protocol PictureEngine: Sendable {
    var team: ComputeTeam { get }
    /// What it is open for, in a few words.
    var detail: String { get }
    /// How vectors of texts and of pictures are compared; nil for a model of pictures alone.
    var similarity: SimilarityBlock? { get }

    /// What the head makes of pictures.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a picture that the model cannot take, ``ErrorCode/cancelled``. Whether
    ///   numbers are finite is for the caller to see.
    func outputs(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]]

    /// Pictures as vectors.
    ///
    /// - Throws: as ``outputs(_:isCancelled:)`` does.
    func vectors(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]]

    /// What a model with a map makes of a picture, in its own size.
    ///
    /// - Throws: as ``outputs(_:isCancelled:)`` does.
    func map(_ picture: Picture, isCancelled: () -> Bool) throws(AIError) -> FloatGrid
}

extension PictureEngine {
    func map(_ picture: Picture, isCancelled: () -> Bool) throws(AIError) -> FloatGrid {
        throw AIError(.unsupportedModel, "the model makes no map of pictures")
    }
}

/// One that may find objects.
protocol ObjectEngine: PictureEngine {
    /// What each row says of each picture that looks for an object; nothing, where none does.
    ///
    /// - Throws: as ``outputs(_:isCancelled:)`` does.
    func objects(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[ObjectRow]]
}

extension [ObjectRow] {
    /// All numbers, checked.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if one is NaN or infinite.
    func numbers() throws(AIError) -> [Float] { try flatMap { $0.logits + $0.box }.checkedFinite() }
}
