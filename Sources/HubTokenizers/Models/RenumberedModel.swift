import HubCore

/// A model whose tokens have other ids, those of their spelling in another vocabulary.
final class RenumberedModel: Sendable {
    let vocabulary: Vocabulary
    private let model: TokenizerModel
    /// The id of each of the model's tokens.
    private let ids: [Int]

    /// - Parameter unknown: for tokens that the other vocabulary does not have.
    init(_ model: TokenizerModel, _ vocabulary: Vocabulary, unknown: Int32) {
        (self.model, self.vocabulary) = (model, vocabulary)
        var ids = [Int](repeating: Int(unknown), count: (model.vocabulary.largestID ?? -1) + 1)
        model.vocabulary.forEach { id, spelling in
            if let other = vocabulary.id(of: Array(spelling)) { ids[Int(id)] = Int(other) }
        }
        self.ids = ids
    }

    var keepsWordsApart: Bool { model.keepsWordsApart }

    /// Appends the tokens of one piece.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for unknown text without an unknown token.
    func encode(_ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput)
        throws(AIError)
    {
        let start = out.ids.count
        try model.encode(piece, scratch, into: &out)
        for index in start..<out.ids.count { out.ids[index] = ids[out.ids[index]] }
    }
}
