import HubCore
import ModelFormats

/// The pieces of a SentencePiece model, or of a GGUF file of its kind.
struct ScoredPieces: Sendable {
    /// The type of a piece (https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto); the
    /// numbers are those of GGUF too.
    enum PieceType: Int, Sendable {
        case normal = 1
        case unknown, control, userDefined, unused, byte
    }

    var vocabulary: Vocabulary
    var scores: [Double] = []
    var types: [PieceType] = []
    var hasFallback = false

    init(count: Int) { vocabulary = Vocabulary(count: count) }

    /// Appends a piece; its index is its id.
    mutating func append(_ piece: UnsafeBufferPointer<UInt8>, score: Double, type: PieceType) {
        _ = vocabulary.add(piece, id: Int32(scores.count), keepsAlike: true)
        scores.append(score)
        types.append(type)
    }

    /// The unknown piece.
    var unknown: Int32? { types.firstIndex(of: .unknown).map(Int32.init) }

    /// The pieces that are matched whole; nil if there are none.
    var userDefined: ByteTrie? {
        guard types.contains(.userDefined) else { return nil }
        return ByteTrie(vocabulary) { types[Int($0)] == .userDefined }
    }

    /// The unigram model of the pieces.
    func unigram() -> UnigramModel {
        let normal = scores.indices.filter { types[$0] == .normal }.map { scores[$0] }
        // Starts from the smallest positive number as SentencePiece does, which mistakes it for the most negative.
        let most = normal.reduce(Double(Float.leastNormalMagnitude)) { max($0, $1) }
        var raised = scores
        for (id, type) in types.enumerated() where type == .userDefined {
            let length = vocabulary.spelling(of: id)?.count ?? 0
            raised[id] = Double(Float(length) * Float(most)) - 0.1
        }
        return UnigramModel(
            vocabulary, scores: raised, unknown: unknown,
            leastScore: normal.min() ?? Double(Float.greatestFiniteMagnitude), hasFallback: hasFallback,
            isSinglePrecision: true
        ) { types[Int($0)] == .normal || types[Int($0)] == .userDefined }
    }
}
