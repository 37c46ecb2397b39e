import HubCore
import ModelFormats

/// Byte-pair encoding (https://arxiv.org/abs/1508.07909) over bytes.
struct BytePairModel: Sendable {
    private struct Merge {
        var rank: Int32
        var result: Int32
    }

    private let vocabulary: Vocabulary
    /// The token of each byte; nil where there is none.
    private let idOfByte: [Int32?]
    private let merges: [UInt64: Merge]
    private let ignoresMerges: Bool

    /// Reads `model` of a tokenizer.json.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming the setting that is not implemented,
    ///   ``ErrorCode/malformedModel`` for a merge of unknown tokens and the like.
    init(_ model: TokenizerComponent) throws(AIError) {
        guard model.type == nil || model.type == "BPE" else { throw model.refuse("") }
        try model.allowOnly([
            "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
            "fuse_unk", "byte_fallback", "ignore_merges",
        ])
        if model["dropout"]?.double ?? 0 != 0 { throw model.refuse("dropout") }
        for setting in ["continuing_subword_prefix", "end_of_word_suffix"] where model[setting]?.string ?? "" != ""
        {
            throw model.refuse(setting)
        }
        if try model.bool("byte_fallback", default: false) { throw model.refuse("byte_fallback") }
        ignoresMerges = try model.bool("ignore_merges", default: false)

        let vocabulary = try Self.vocabulary(model)
        let idOfByte = (UInt8.min...UInt8.max).map {
            vocabulary.id(ofSpelling: ByteLevelAlphabet.spelling(of: [$0]))
        }
        // Without a token for the unknown, a byte that has no token is left out, as the reference does. Where every
        // byte that UTF-8 can have has one, nothing is ever unknown.
        if let missing = idOfByte.indices.first(where: { idOfByte[$0] == nil && Self.occursInUTF8($0) }) {
            if model["unk_token"] != nil { throw model.refuse("an unk_token and no token for byte \(missing)") }
            if idOfByte.allSatisfy({ $0 == nil }) { throw model.refuse("no token for any byte") }
        }
        self.vocabulary = vocabulary
        self.idOfByte = idOfByte
        merges = try Self.merges(model, vocabulary)
    }

    private static func occursInUTF8(_ byte: Int) -> Bool { byte < 0xC0 || (0xC2...0xF4).contains(byte) }

    private static func vocabulary(_ model: TokenizerComponent) throws(AIError) -> Vocabulary {
        guard let members = model["vocab"]?.object?.members else {
            throw .malformed(model.path, "the model has no vocab")
        }
        var vocabulary = Vocabulary(count: members.count)
        for (token, value) in members {
            guard let id = value.int.flatMap({ Int32(exactly: $0) }), id >= 0 else {
                throw .malformed(model.path, "token \"\(token)\" has no valid id")
            }
            var token = token
            let isNew = token.withUTF8 { vocabulary.add($0, id: id) }
            guard isNew else { throw .malformed(model.path, "two tokens have the id \(id)") }
        }
        return vocabulary
    }

    private static func merges(_ model: TokenizerComponent, _ vocabulary: Vocabulary) throws(AIError)
        -> [UInt64: Merge]
    {
        guard let list = model["merges"]?.array else { throw .malformed(model.path, "the model has no merges") }
        var merges: [UInt64: Merge] = [:]
        merges.reserveCapacity(list.count)
        var joined: [UInt8] = []
        for (rank, entry) in list.enumerated() {
            joined.removeAll(keepingCapacity: true)
            guard let middle = append(entry, to: &joined),
                let found = joined.withUnsafeBufferPointer({ joined -> (UInt64, Int32)? in
                    guard let left = vocabulary.id(of: UnsafeBufferPointer(rebasing: joined[..<middle])),
                        let right = vocabulary.id(of: UnsafeBufferPointer(rebasing: joined[middle...])),
                        let result = vocabulary.id(of: joined)
                    else { return nil }
                    return (key(left, right), result)
                })
            else { throw .malformed(model.path, "merge \(rank) is not a pair of known tokens") }
            // A repeated pair keeps the later rank, as a map filled in order does in the reference.
            merges[found.0] = Merge(rank: Int32(rank), result: found.1)
        }
        return merges
    }

    /// Appends both halves of a merge, `"a b"` or `["a", "b"]`.
    ///
    /// - Returns: Where the second begins; nil where it is no pair.
    private static func append(_ entry: JSON, to bytes: inout [UInt8]) -> Int? {
        if let text = entry.string {
            bytes += text.utf8
            let space = UInt8(ascii: " ")
            guard let middle = bytes.firstIndex(of: space), bytes.lastIndex(of: space) == middle else { return nil }
            bytes.remove(at: middle)
            return middle
        }
        guard let pair = entry.array, pair.count == 2, let left = pair[0].string, let right = pair[1].string else {
            return nil
        }
        bytes += left.utf8
        bytes += right.utf8
        return left.utf8.count
    }

    private static func key(_ a: Int32, _ b: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: a)) << 32 | UInt64(UInt32(bitPattern: b))
    }

    /// Appends the tokens of one piece.
    func encode(_ piece: UnsafeBufferPointer<UInt8>, into ids: inout [Int]) {
        if piece.count == 1, let id = idOfByte[Int(piece[0])] { return ids.append(Int(id)) }
        if ignoresMerges, let id = vocabulary.id(ofSpelling: ByteLevelAlphabet.spelling(of: piece)) {
            return ids.append(Int(id))
        }
        var word = MergingWord(piece.compactMap { idOfByte[Int($0)] })
        word.merge { a, b in merges[Self.key(a, b)].map { ($0.rank, $0.result) } }
        word.append(to: &ids)
    }

    /// The bytes of a token, its spelling where that is not in the byte-level alphabet; nil where the id is none.
    func bytes(of id: Int) -> [UInt8]? {
        vocabulary.spelling(of: id).map { ByteLevelAlphabet.bytes(of: $0) ?? Array($0) }
    }

    /// The largest id.
    var largestID: Int? { vocabulary.largestID }
}

extension Vocabulary {
    fileprivate func id(ofSpelling spelling: [UInt8]) -> Int32? {
        spelling.withUnsafeBufferPointer { id(of: $0) }
    }
}
