import HubCore
import ModelFormats

/// Converts pieces of text to tokens.
enum TokenizerModel: Sendable {
    case bytePair(BytePairModel)
    case wordPiece(WordPieceModel)
    case wordLevel(WordLevelModel)
    case unigram(UnigramModel)
    case scoredPair(ScoredPairModel)
    case wholePiece(WholePieceModel)
    case renumbered(RenumberedModel)

    /// Reads `model` of a tokenizer.json.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for an unknown kind.
    ///
    /// - Parameter wantsBytes: Whether pieces may be raw bytes of a byte-level alphabet.
    init(_ part: ModelPart, wantsBytes: Bool) throws(AIError) {
        switch part.kind {
        case "BPE": self = .bytePair(try BytePairModel(part, wantsBytes: wantsBytes))
        case "WordPiece": self = .wordPiece(try WordPieceModel(part))
        case "WordLevel": self = .wordLevel(try WordLevelModel(part))
        case "Unigram": self = .unigram(try UnigramModel(part))
        default: throw part.settings.refuse("")
        }
    }

    /// The tokens.
    var vocabulary: Vocabulary {
        switch self {
        case .bytePair(let model): model.vocabulary
        case .wordPiece(let model): model.vocabulary
        case .wordLevel(let model): model.vocabulary
        case .unigram(let model): model.vocabulary
        case .scoredPair(let model): model.vocabulary
        case .wholePiece(let model): model.vocabulary
        case .renumbered(let model): model.vocabulary
        }
    }

    /// The token that is shown as the text it matched: in the reference Unigram's unknown token keeps its text.
    var spelledAsFound: Int32? { if case .unigram(let model) = self { model.unknown } else { nil } }

    /// Whether pieces are raw bytes of a byte-level alphabet.
    var takesBytes: Bool { if case .bytePair(let model) = self { model.takesBytes } else { false } }

    /// Whether words, which begin with `▁`, can be encoded separately.
    var keepsWordsApart: Bool {
        switch self {
        case .bytePair(let model): model.keepsWordsApart
        case .scoredPair(let model): model.keepsWordsApart
        case .renumbered(let model): model.keepsWordsApart
        default: false
        }
    }

    /// Appends the tokens of one piece.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for unknown text without an unknown token.
    func encode(_ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput)
        throws(AIError)
    {
        switch self {
        case .bytePair(let model): try model.encode(piece, scratch, into: &out)
        case .wordPiece(let model): try model.encode(piece, into: &out)
        case .wordLevel(let model): try model.encode(piece, into: &out)
        case .unigram(let model): try model.encode(piece, scratch, into: &out)
        case .scoredPair(let model): model.encode(piece, scratch, into: &out)
        case .wholePiece(let model): model.encode(piece, into: &out)
        case .renumbered(let model): try model.encode(piece, scratch, into: &out)
        }
    }
}
