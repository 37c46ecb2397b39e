import HubCore
import ModelFormats

/// A SentencePiece model whose class says how its ids and texts are changed.
extension VocabularyFolder {
    /// XLM-RoBERTa, CamemBERT, ALBERT, DeBERTa v2, mBART and SigLIP.
    func unigram() throws(AIError) -> TokenizerParts {
        let bytes = try TokenizerFile.contents(path) ?? []
        let file = try SentencePieceFile(bytes, path: path)
        let (vocabulary, scores) = pieces(file)
        let model = UnigramModel(
            vocabulary, scores: scores, unknown: try unknown(file, vocabulary, scores),
            leastScore: scores.min() ?? .infinity, hasFallback: false)
        let normalizer = Normalizer(try rewriting(file))
        let controls = file.pieces.types.indices.filter {
            [.control, .userDefined].contains(file.pieces.types[$0])
        }
        let added = try special.added(
            normalizer, vocabulary,
            others: controls.map { id in
                [
                    "content": .string(file.text(id)), "special": .bool(file.pieces.types[id] == .control),
                    "normalized": false,
                ]
            },
            more: tokenizerClass.languages.map { ["content": .string($0), "special": true, "normalized": false] })
        let addsPrefix = settings.bool("add_prefix_space") ?? true
        return TokenizerParts(
            kind: "Unigram", model: .unigram(model), added: added, normalizer: normalizer,
            preTokenizer: PreTokenizer(cutting(addsPrefix: addsPrefix)), postProcessor: try template(added),
            decoder: TokenDecoder([.metaspace(SentencePieceSpace.bytes, dropsFirst: addsPrefix)]))
    }

    /// The tokens in the order of their ids, which fairseq's models shift.
    private func pieces(_ file: SentencePieceFile) -> (Vocabulary, [Double]) {
        func role(_ key: String) -> String { special[key] ?? "" }
        var before: [(String, Double)] = []
        var dropped = 0
        switch tokenizerClass {
        case .xlmRoberta, .mBart, .mBart50:
            before = ["bos_token", "pad_token", "eos_token", "unk_token"].map { (role($0), 0) }
            dropped = 3
        case .camembert:
            before = [
                ("<s>NOTUSED", 0), (role("pad_token"), 0), ("</s>NOTUSED", 0), (role("unk_token"), 0),
                ("<unk>NOTUSED", -100),
            ]
            dropped = 1
        default: break
        }
        let languages = tokenizerClass.languages.map { ($0, 0.0) }
        let after = before.isEmpty ? [] : languages + [(role("mask_token"), 0.0)]
        let own = file.pieces.scores.indices.dropFirst(dropped).map { (file.text($0), file.pieces.scores[$0]) }
        let all = before + own + after
        var vocabulary = Vocabulary(count: all.count)
        for (id, piece) in all.enumerated() {
            Array(piece.0.utf8).withUnsafeBufferPointer {
                _ = vocabulary.add($0, id: Int32(id), keepsAlike: true)
            }
        }
        return (vocabulary, all.map(\.1))
    }

    private func unknown(_ file: SentencePieceFile, _ vocabulary: Vocabulary, _ scores: [Double]) throws(AIError)
        -> Int32
    {
        let id: Int
        switch tokenizerClass {
        case .albert: id = 1
        case .siglip: id = file.unknownID
        case .debertaV2:
            let named = special["unk_token"].flatMap { vocabulary.id(of: $0) }.map(Int.init)
            id = named.flatMap { scores[$0] == 0 ? $0 : nil } ?? file.unknownID
        default: id = 3
        }
        guard scores.indices.contains(id) else { throw .malformed(path, "it has no unknown piece") }
        return Int32(id)
    }

    private func rewriting(_ file: SentencePieceFile) throws(AIError) -> [Normalizer.Step] {
        let rules: [Normalizer.Step] =
            file.charsmap.isEmpty ? [] : [.charsmap(try Charsmap(file.charsmap, path: path))]
        switch tokenizerClass {
        case .albert:
            let quote = Array("\"".utf8)
            var steps: [Normalizer.Step] = ["``", "''"].map { .replace(.literal(Array($0.utf8)), quote) }
            if settings.bool("keep_accents") != true { steps += [.form(.compatibleDecomposed), .stripAccents] }
            if settings.bool("do_lower_case") ?? true { steps.append(.lowercase) }
            return steps + rules
        case .debertaV2:
            let spaces = try Pattern(#"\s{2,}|[\n\r\t]"#, path: path)
            return (settings.bool("do_lower_case") == true ? [.lowercase] : [])
                + [
                    .replace(.expression(spaces), [UInt8(ascii: " ")]), .form(.composed),
                    .strip(left: false, right: true),
                ]
        case .siglip:
            // `SiglipTokenizer.canonicalize_text` of transformers; Python's string.punctuation is ASCII's.
            let punctuation = try Pattern(##"[!-/:-@\[-`{-~]"##, path: path)
            let spaces = try Pattern(#"\s+"#, path: path)
            return (settings.bool("do_lower_case") ?? true ? [.lowercase] : [])
                + [
                    .replace(.expression(punctuation), []), .replace(.expression(spaces), [UInt8(ascii: " ")]),
                    .strip(left: true, right: true),
                ] + rules
        default: return rules
        }
    }

    private func cutting(addsPrefix: Bool) -> [PreTokenizer.Step] {
        let space = SentencePieceSpace.bytes
        guard tokenizerClass == .debertaV2 else {
            return [
                .cut(.characters(.whiteSpace), .removed, inverted: false),
                .metaspace(space, addsPrefix ? .always : .never, splits: true),
            ]
        }
        let punctuation = PreTokenizer.Step.cut(.characters(.punctuation), .isolated, inverted: false)
        return (settings.bool("split_by_punct") == true ? [punctuation] : [])
            + [.metaspace(space, addsPrefix ? .always : .first, splits: true)]
    }

    private func template(_ added: AddedTokens) throws(AIError) -> PostProcessor {
        switch tokenizerClass {
        case .albert, .debertaV2: .bert(cls: try id("cls_token", added), sep: try id("sep_token", added))
        case .mBart: PostProcessor(around: [], [try id("eos_token", added), try language(added)])
        case .siglip: PostProcessor(around: [], [try id("eos_token", added)])
        case .mBart50: PostProcessor(around: [try language(added)], [try id("eos_token", added)])
        default: .roberta(cls: try id("bos_token", added), sep: try id("eos_token", added), nil)
        }
    }
}
