import HubCore
import ModelFormats

/// Byte-pair encoding (https://arxiv.org/abs/1508.07909) over bytes: every text has an encoding.
struct BytePairModel: Sendable {
    private struct Merge {
        var rank: Int32
        var result: Int32
    }

    /// The bytes of each token; nil where the vocabulary has a gap or an entry outside the byte-level alphabet.
    let bytes: [Int: [UInt8]]
    private let idOfByte: [Int32]
    private let idOfPiece: [[UInt8]: Int32]
    private let merges: [UInt64: Merge]
    private let ignoresMerges: Bool

    /// Reads `model` of a tokenizer.json.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming the setting that is not implemented,
    ///   ``ErrorCode/malformedModel`` for a merge of unknown tokens and the like.
    init(_ model: TokenizerComponent) throws(AIError) {
        let path = model.path
        guard model.type == nil || model.type == "BPE" else { throw model.refuse("") }
        try model.allowOnly([
            "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
            "fuse_unk",
            "byte_fallback", "ignore_merges",
        ])
        // With a token for every byte nothing is ever unknown: unk_token and fuse_unk have no effect.
        if model["dropout"]?.double ?? 0 != 0 { throw model.refuse("dropout") }
        for setting in ["continuing_subword_prefix", "end_of_word_suffix"] where model[setting]?.string ?? "" != ""
        {
            throw model.refuse(setting)
        }
        if try model.bool("byte_fallback", default: false) { throw model.refuse("byte_fallback") }
        ignoresMerges = try model.bool("ignore_merges", default: false)

        guard let vocabulary = model["vocab"]?.object else { throw .malformed(path, "the model has no vocab") }
        // Keys are compared by bytes: Swift's String takes canonically equivalent spellings for one.
        var idOfSpelling: [[UInt8]: Int32] = [:]
        var idOfPiece: [[UInt8]: Int32] = [:]
        var bytes: [Int: [UInt8]] = [:]
        idOfSpelling.reserveCapacity(vocabulary.count)
        idOfPiece.reserveCapacity(vocabulary.count)
        bytes.reserveCapacity(vocabulary.count)
        for (token, value) in vocabulary.members {
            guard let id = value.int.flatMap({ Int32(exactly: $0) }), id >= 0 else {
                throw .malformed(path, "token \"\(token)\" has no valid id")
            }
            idOfSpelling[Array(token.utf8)] = id
            let piece = ByteLevelAlphabet.bytes(of: token)
            guard bytes.updateValue(piece ?? Array(token.utf8), forKey: Int(id)) == nil else {
                throw .malformed(path, "two tokens have the id \(id)")
            }
            if let piece { idOfPiece[piece] = id }
        }
        var idOfByte: [Int32] = []
        for byte in UInt8.min...UInt8.max {
            guard let id = idOfPiece[[byte]] else {
                throw .unsupported(
                    path, "a byte-level vocabulary without a token for byte \(byte) cannot be used yet")
            }
            idOfByte.append(id)
        }
        self.bytes = bytes
        self.idOfByte = idOfByte
        self.idOfPiece = idOfPiece
        merges = try Self.merges(model, idOfSpelling)
    }

    private static func merges(_ model: TokenizerComponent, _ ids: [[UInt8]: Int32]) throws(AIError) -> [UInt64:
        Merge]
    {
        guard let list = model["merges"]?.array else { throw .malformed(model.path, "the model has no merges") }
        var merges: [UInt64: Merge] = [:]
        merges.reserveCapacity(list.count)
        for (rank, entry) in list.enumerated() {
            func fault() -> AIError { .malformed(model.path, "merge \(rank) is not a pair of known tokens") }
            let left: [UInt8]
            let right: [UInt8]
            if let text = entry.string {
                let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
                guard parts.count == 2 else { throw fault() }
                (left, right) = (Array(parts[0]), Array(parts[1]))
            } else if let pair = entry.array, pair.count == 2, let first = pair[0].string,
                let second = pair[1].string
            {
                (left, right) = (Array(first.utf8), Array(second.utf8))
            } else {
                throw fault()
            }
            guard let a = ids[left], let b = ids[right], let result = ids[left + right] else { throw fault() }
            // A repeated pair keeps the later rank, as a map filled in order does in the reference.
            merges[key(a, b)] = Merge(rank: Int32(rank), result: result)
        }
        return merges
    }

    private static func key(_ a: Int32, _ b: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: a)) << 32 | UInt64(UInt32(bitPattern: b))
    }

    /// Appends the tokens of one pre-token.
    func encode(_ piece: UnsafeBufferPointer<UInt8>, into ids: inout [Int]) {
        if piece.count == 1 { return ids.append(Int(idOfByte[Int(piece[0])])) }
        if ignoresMerges, let id = idOfPiece[Array(piece)] { return ids.append(Int(id)) }
        var word = MergingWord(piece.map { idOfByte[Int($0)] })
        word.merge { a, b in merges[Self.key(a, b)].map { ($0.rank, $0.result) } }
        word.append(to: &ids)
    }
}
