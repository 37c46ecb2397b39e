import HubCore

/// The byte-pair encoding of SentencePiece: the pair whose result has the highest score merges first
/// (https://github.com/google/sentencepiece/blob/master/src/bpe_model.cc).
final class ScoredPairModel: Sendable {
    let vocabulary: Vocabulary
    /// The rank of each token by score; tokens with the same score share a rank.
    private let ranks: [Int32]
    /// The tokens that merges can produce: not control or byte tokens.
    private let isMade: [Bool]
    /// Unused tokens, which are split again after merging.
    private let isUnused: [Bool]
    /// The tokens that are matched before merging.
    private let whole: ByteTrie?
    private let unknown: UnknownPieces
    /// Whether no merge crosses the start of a word (`▁`): then words can be encoded separately.
    let keepsWordsApart: Bool

    init(_ pieces: ScoredPieces) {
        vocabulary = pieces.vocabulary
        let order = pieces.scores.indices.sorted { pieces.scores[$0] > pieces.scores[$1] }
        var ranks = [Int32](repeating: 0, count: order.count)
        var rank: Int32 = -1
        var before = Double.nan
        for index in order {
            if pieces.scores[index] != before { rank += 1 }
            before = pieces.scores[index]
            ranks[index] = rank
        }
        self.ranks = ranks
        isMade = pieces.types.map { $0 == .normal || $0 == .userDefined || $0 == .unused }
        isUnused = pieces.types.map { $0 == .unused }
        whole = pieces.userDefined
        unknown = UnknownPieces(pieces)
        let isMade = isMade
        keepsWordsApart = vocabulary.keepsWordsApart { isMade[Int($0)] }
    }

    /// Appends the tokens of one piece.
    func encode(_ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput) {
        scratch.append(piece, to: &out) { out in encodeAnew(piece, scratch, into: &out) }
    }

    private func encodeAnew(
        _ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput
    ) {
        var start = 0
        while start < piece.count {
            // A token matched whole is never merged: it separates the text around it.
            var frozen = piece.count..<piece.count
            if let whole {
                var at = start
                while at < piece.count {
                    var end = at
                    whole.forEachToken(piece, at: at) { _, last in end = last }
                    if end > at {
                        frozen = at..<end
                        break
                    }
                    at += piece.scalar(at: at).width
                }
            }
            merge(piece, start..<frozen.lowerBound, scratch, into: &out)
            if !frozen.isEmpty, let id = id(piece, frozen) { out.append(id, frozen) }
            start = max(frozen.upperBound, start + 1)
        }
    }

    private func id(_ piece: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int32? {
        guard let id = vocabulary.id(of: UnsafeBufferPointer(rebasing: piece[range])), isMade[Int(id)] else {
            return nil
        }
        return id
    }

    private func merge(
        _ piece: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ scratch: EncodingScratch,
        into out: inout ModelOutput
    ) {
        scratch.word.removeAll()
        var at = range.lowerBound
        while at < range.upperBound {
            let width = piece.scalar(at: at).width
            // A placeholder: ids are looked up after merging.
            scratch.word.append(0, length: width)
            at += width
        }
        var halves: [Range<Int>: Int] = [:]
        scratch.word.merge { span, middle in
            let whole = range.lowerBound + span.lowerBound..<range.lowerBound + span.upperBound
            guard let id = id(piece, whole) else { return nil }
            if isUnused[Int(id)] { halves[whole] = range.lowerBound + middle }
            return MergeTable.Merge(rank: ranks[Int(id)], result: id)
        }
        at = range.lowerBound
        var isAfterUnknown = false
        for length in scratch.word.lengths {
            let symbol = at..<at + Int(length)
            append(piece, symbol, halves, &isAfterUnknown, into: &out)
            at = symbol.upperBound
        }
    }

    private func append(
        _ piece: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ halves: [Range<Int>: Int],
        _ isAfterUnknown: inout Bool, into out: inout ModelOutput
    ) {
        if let id = id(piece, range) {
            if isUnused[Int(id)], let middle = halves[range] {
                append(piece, range.lowerBound..<middle, halves, &isAfterUnknown, into: &out)
                return append(piece, middle..<range.upperBound, halves, &isAfterUnknown, into: &out)
            }
            isAfterUnknown = false
            return out.append(id, range)
        }
        unknown.append(piece, range, &isAfterUnknown, into: &out)
    }
}
