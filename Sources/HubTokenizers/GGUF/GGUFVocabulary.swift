import HubCore
import ModelFormats

/// The tokenizer data of a GGUF file as plain values (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md,
/// "Tokenizer").
package struct GGUFVocabulary: Sendable {
    /// `tokenizer.ggml.model`: `gpt2`, `gemma4`, `llama`, `bert`, `t5`.
    package var model: String
    /// `tokenizer.ggml.pre`: the name of the pre-tokenizer, for `gpt2`.
    package var preTokenizer: String?
    /// `tokenizer.ggml.tokens`, each as UTF-8.
    package var tokens: [[UInt8]]
    /// `tokenizer.ggml.scores`.
    package var scores: [Float] = []
    /// `tokenizer.ggml.token_type`.
    package var types: [Int] = []
    /// `tokenizer.ggml.merges`: two tokens separated by a space.
    package var merges: [[UInt8]] = []
    /// `tokenizer.ggml.bos_token_id`.
    package var beginID: Int?
    /// `tokenizer.ggml.eos_token_id`.
    package var endID: Int?
    /// What else ends a text: `tokenizer.ggml.eot_token_id` and the like.
    package var otherEndIDs: [Int] = []
    /// `tokenizer.ggml.unknown_token_id`.
    package var unknownID: Int?
    /// `tokenizer.ggml.seperator_token_id` (so spelled).
    package var separatorID: Int?
    /// `tokenizer.ggml.cls_token_id`.
    package var classID: Int?
    /// `tokenizer.ggml.add_bos_token`.
    package var addsBegin: Bool?
    /// `tokenizer.ggml.add_eos_token`.
    package var addsEnd: Bool?
    /// `tokenizer.ggml.add_space_prefix`.
    package var addsSpacePrefix: Bool?
    /// `tokenizer.ggml.remove_extra_whitespaces`.
    package var removesExtraSpaces: Bool?
    /// `tokenizer.ggml.precompiled_charsmap`.
    package var charsmap: [UInt8] = []
    /// `tokenizer.ggml.normalizer.lowercase`, for `bert`.
    package var lowercases: Bool?
    /// `tokenizer.ggml.normalizer.strip_accents`, for `bert`.
    package var stripsAccents: Bool?
    /// `general.name`.
    package var name = ""
    /// `general.architecture`.
    package var architecture = ""

    /// A vocabulary with only tokens.
    package init(model: String, preTokenizer: String? = nil, tokens: [[UInt8]]) {
        self.model = model
        self.preTokenizer = preTokenizer
        self.tokens = tokens
    }
}

extension GGUFVocabulary {
    func parts(_ path: String) throws(AIError) -> TokenizerParts {
        guard !tokens.isEmpty, tokens.count <= 1 << 24 else { throw .malformed(path, "it has no tokens") }
        guard scores.isEmpty || scores.count == tokens.count, types.isEmpty || types.count == tokens.count else {
            throw .malformed(path, "the numbers of tokens, scores and types differ")
        }
        let ends = ends
        let vocabulary = controlling(ends).withSpecialIDs
        var parts: TokenizerParts
        switch model {
        case "gpt2": parts = try vocabulary.bytePair(preTokenizer ?? "default", path)
        // llama.cpp ignores the name of its pre-tokenizer too.
        case "gemma4": parts = try vocabulary.bytePair(model, path)
        case "llama", "t5": parts = try vocabulary.scored(path)
        case "bert": parts = try vocabulary.wordPiece(path)
        default: throw .unsupported(path, "the tokenizer's model \(model) cannot be used yet")
        }
        parts.ends = ends.all
        return parts
    }

    private func pieces(_ path: String) throws(AIError) -> ScoredPieces {
        var pieces = ScoredPieces(count: tokens.count)
        for (index, token) in tokens.enumerated() {
            let number = types.isEmpty ? 1 : types[index]
            let score = scores.isEmpty ? 0 : scores[index]
            guard let type = ScoredPieces.PieceType(rawValue: number), !score.isNaN,
                String(validating: token, as: UTF8.self) != nil
            else { throw .malformed(path, "token \(index) is not UTF-8, or has no valid type or score") }
            token.withUnsafeBufferPointer { pieces.append($0, score: Double(score), type: type) }
        }
        return pieces
    }

    private func bytePair(_ rules: String, _ path: String) throws(AIError) -> TokenizerParts {
        let pieces = try pieces(path)
        let table = try mergeTable(pieces.vocabulary, path)
        let rules = try GGUFPreTokenizer(rules, path: path)
        var settings = BytePairModel.Settings()
        settings.ignoresMerges = rules.ignoresMerges
        settings.takesLinesWhole = rules.isGemma
        settings.hasFallback = !rules.isByteLevel
        let model = BytePairModel(pieces.vocabulary, table, settings, wantsBytes: rules.isByteLevel)
        var preTokenizer = rules.preTokenizer
        preTokenizer.leavesBytes = model.takesBytes
        return TokenizerParts(
            kind: rules.isByteLevel ? "byte-level BPE" : "BPE", model: .bytePair(model), added: added(pieces),
            showsAddedAsTheyAre: rules.isByteLevel,
            normalizer: rules.normalizer, preTokenizer: preTokenizer,
            postProcessor: try around(
                begin: rules.isGemma || addsBegin ?? rules.addsBegin, end: addsEnd ?? false, path),
            decoder: rules.decoder)
    }

    private func mergeTable(_ vocabulary: Vocabulary, _ path: String) throws(AIError) -> MergeTable {
        // Concatenated, so that there is one block of bytes to point into.
        let bytes = merges.flatMap { $0 }
        let result = bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(AIError) in
                var pairs = MergePairs(count: merges.count)
                var start = 0
                for merge in merges where pairs.isWhole {
                    pairs.append(UnsafeBufferPointer(rebasing: bytes[start..<start + merge.count]))
                    start += merge.count
                }
                return try pairs.table(vocabulary, path: path)
            }
        }
        return try result.get()
    }

    private func scored(_ path: String) throws(AIError) -> TokenizerParts {
        var pieces = try pieces(path)
        guard !scores.isEmpty else { throw .malformed(path, "its tokens have no scores") }
        let isUnigram = model == "t5"
        pieces.hasFallback = pieces.types.contains(.byte)
        if pieces.unknown == nil, let unknownID { pieces.types[unknownID] = .unknown }
        guard pieces.unknown != nil || pieces.hasFallback else {
            throw .malformed(path, "it has no unknown token")
        }
        var rewriting = SentencePieceNormalizer()
        rewriting.addsPrefix = addsSpacePrefix ?? true
        rewriting.removesExtraSpaces = removesExtraSpaces ?? isUnigram
        if !charsmap.isEmpty { rewriting.charsmap = try Charsmap(charsmap, path: path) }
        // Llama's user-defined tokens are added tokens, and merge like all others.
        if isUnigram { rewriting.untouched = pieces.userDefined }
        var merging = pieces
        merging.types = pieces.types.map { $0 == .userDefined ? .normal : $0 }
        let decoder = SentencePieceDecoder(
            types: pieces.types, unknownSurface: Array(" \u{2047} ".utf8),
            dropsFirstSpace: rewriting.addsPrefix || rewriting.removesExtraSpaces,
            dropsAllFirstSpaces: rewriting.removesExtraSpaces)
        return TokenizerParts(
            kind: isUnigram ? "SentencePiece unigram" : "SentencePiece BPE",
            model: isUnigram ? .unigram(pieces.unigram()) : .scoredPair(ScoredPairModel(merging)),
            added: added(pieces), normalizer: Normalizer([.sentencePiece(rewriting)]),
            postProcessor: try around(begin: addsBegin ?? !isUnigram, end: addsEnd ?? isUnigram, path),
            decoder: TokenDecoder([.sentencePiece(decoder)]))
    }

    /// GGUF writes BERT's tokens with `▁` at the start of a word, and without `##` inside one.
    private func wordPiece(_ path: String) throws(AIError) -> TokenizerParts {
        let space = SentencePieceSpace.bytes
        let prefix = Array("##".utf8)
        var vocabulary = Vocabulary(count: tokens.count)
        let pieces = try pieces(path)
        for (id, token) in tokens.enumerated() {
            let isSpecial = Self.foundFirst.contains(pieces.types[id])
            let isWhole = isSpecial || [classID ?? beginID, separatorID ?? endID, unknownID].contains(id)
            let begins = !isSpecial && token.starts(with: space)
            let spelling = begins ? Array(token[space.count...]) : isWhole ? token : prefix + token
            spelling.withUnsafeBufferPointer { _ = vocabulary.add($0, id: Int32(id), keepsAlike: true) }
        }
        guard let unknown = unknownID.map(Int32.init) ?? vocabulary.id(of: "[UNK]") else {
            throw .malformed(path, "it has no unknown token")
        }
        let lowercases = lowercases ?? true
        let bert = Normalizer.Bert(
            cleansText: true, spacesChinese: true, stripsAccents: stripsAccents ?? lowercases,
            lowercases: lowercases)
        return TokenizerParts(
            kind: "WordPiece",
            model: .wordPiece(WordPieceModel(vocabulary, unknown: unknown, prefix: prefix, longestWord: 100)),
            added: added(pieces), normalizer: Normalizer([.bert(bert)]),
            preTokenizer: .bert,
            // Regardless of the flags.
            postProcessor: try around(begin: true, end: true, path),
            decoder: TokenDecoder([.wordPiece(prefix: prefix, cleansUp: true)]))
    }
}
