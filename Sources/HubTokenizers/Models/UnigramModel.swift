import HubCore
import ModelFormats

/// Unigram language model (https://arxiv.org/abs/1804.10959): the segmentation with the highest sum of scores, found
/// with Viterbi's algorithm.
final class UnigramModel: Sendable {
    let vocabulary: Vocabulary
    private let trie: ByteTrie
    private let scores: [Double]
    let unknown: Int32?
    private let unknownScore: Double
    private let fallback: [Int32?]?
    /// Whether sums are 32-bit floats, as in SentencePiece.
    private let isSinglePrecision: Bool

    private static let unknownPenalty = 10.0

    /// Reads `model` of a tokenizer.json.
    convenience init(_ model: ModelPart) throws(AIError) {
        let settings = model.settings
        let (vocabulary, scores) = try model.scoredVocabulary()
        let unknown = settings["unk_id"] == nil ? nil : try settings.count("unk_id")
        if let unknown, unknown >= scores.count { throw settings.malformed("has an unk_id that is not a token") }
        self.init(
            vocabulary, scores: scores, unknown: unknown.map(Int32.init), leastScore: scores.min() ?? .infinity,
            hasFallback: try settings.bool("byte_fallback", default: false))
    }

    /// A model of known parts.
    ///
    /// - Parameter isMatched: Whether a token is matched in the text.
    init(
        _ vocabulary: Vocabulary, scores: [Double], unknown: Int32?, leastScore: Double, hasFallback: Bool,
        isSinglePrecision: Bool = false, where isMatched: (Int32) -> Bool = { _ in true }
    ) {
        self.vocabulary = vocabulary
        trie = ByteTrie(vocabulary, where: isMatched)
        self.scores = scores
        self.unknown = unknown
        let penalized = leastScore - Self.unknownPenalty
        unknownScore = isSinglePrecision ? Double(Float(penalized)) : penalized
        fallback = hasFallback ? BytePairModel.byteTokens(vocabulary) : nil
        self.isSinglePrecision = isSinglePrecision
    }

    /// Appends the tokens of one piece.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for unknown text without an unknown token.
    func encode(_ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput)
        throws(AIError)
    {
        try scratch.append(piece, to: &out) { out throws(AIError) in try encodeAnew(piece, scratch, into: &out) }
    }

    private func encodeAnew(
        _ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput
    )
        throws(AIError)
    {
        try findPath(piece, &scratch.lattice)
        let path = scratch.lattice.path
        var index = path.count - 1
        while index >= 0 {
            let node = path[index]
            var end = node.end
            index -= 1
            guard node.id == unknown else {
                out.append(node.id, node.start..<end)
                continue
            }
            // Adjacent unknown characters are one token.
            while index >= 0, path[index].id == unknown {
                end = path[index].end
                index -= 1
            }
            append(piece, node.start..<end, into: &out)
        }
    }

    /// Finds the best path, the last token first.
    private func findPath(_ piece: UnsafeBufferPointer<UInt8>, _ lattice: inout Lattice) throws(AIError) {
        lattice.clear(piece.count)
        var start = 0
        while start < piece.count {
            let width = piece.scalar(at: start).width
            let before = lattice.scores[start]
            var hasSingle = false
            trie.forEachToken(piece, at: start) { id, end in
                offer(before + scores[Int(id)], id, start, end, &lattice)
                if end - start == width { hasSingle = true }
            }
            if !hasSingle {
                guard let unknown else { throw .noUnknown(piece) }
                offer(before + unknownScore, unknown, start, start + width, &lattice)
            }
            start += width
        }
        var end = piece.count
        while end > 0 {
            let start = Int(lattice.starts[end])
            lattice.path.append((lattice.ids[end], start, end))
            end = start
        }
    }

    private func offer(_ score: Double, _ id: Int32, _ start: Int, _ end: Int, _ lattice: inout Lattice) {
        let score = isSinglePrecision ? Double(Float(score)) : score
        guard lattice.starts[end] < 0 || score > lattice.scores[end] else { return }
        lattice.scores[end] = score
        lattice.starts[end] = Int32(start)
        lattice.ids[end] = id
    }

    /// Appends unknown text: as a token spelled like all of it, as byte tokens, or as the unknown token.
    private func append(_ piece: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, into out: inout ModelOutput) {
        let text = UnsafeBufferPointer(rebasing: piece[range])
        if !isSinglePrecision, let id = vocabulary.id(of: text) { return out.append(id, range) }
        if let fallback, text.allSatisfy({ fallback[Int($0)] != nil }) {
            for byte in text { if let id = fallback[Int(byte)] { out.append(id, range) } }
        } else if let unknown {
            out.append(unknown, range)
        }
    }
}
