import HubCore
import ModelFormats

/// vocab.txt: one token in each line, whose number is its id.
extension VocabularyFolder {
    /// BERT and its kin.
    func wordPiece() throws(AIError) -> TokenizerParts {
        let vocabulary = Self.vocabulary(try lines())
        let lowercases = settings.bool("do_lower_case") ?? true
        let normalizer = Normalizer([
            .bert(
                Normalizer.Bert(
                    cleansText: true, spacesChinese: settings.bool("tokenize_chinese_chars") ?? true,
                    stripsAccents: settings.bool("strip_accents") ?? lowercases, lowercases: lowercases))
        ])
        let added = try special.added(normalizer, vocabulary)
        let (cls, sep) = (try id("cls_token", added), try id("sep_token", added))
        let prefix = Array("##".utf8)
        let model = WordPieceModel(
            vocabulary, unknown: special["unk_token"].flatMap { vocabulary.id(of: $0) }, prefix: prefix,
            longestWord: 100)
        return TokenizerParts(
            kind: "WordPiece", model: .wordPiece(model), added: added, normalizer: normalizer,
            preTokenizer: .bert,
            postProcessor: tokenizerClass == .mpnet
                ? .roberta(cls: cls, sep: sep, OffsetTrimming(addsPrefixSpace: false)) : .bert(cls: cls, sep: sep),
            decoder: TokenDecoder([.wordPiece(prefix: prefix, cleansUp: true)]))
    }

    /// ESM: every line is a token that is found anywhere in the text; there are no others.
    func words() throws(AIError) -> TokenizerParts {
        let lines = try lines()
        let vocabulary = Self.vocabulary(lines)
        let added = try special.added(
            Normalizer([]), vocabulary,
            more: lines.map { ["content": .string(String(decoding: $0, as: UTF8.self)), "normalized": false] })
        let (cls, end) = (try id("cls_token", added), try id("eos_token", added))
        return TokenizerParts(
            kind: "WordLevel",
            model: .wordLevel(
                WordLevelModel(vocabulary, unknown: special["unk_token"].flatMap { vocabulary.id(of: $0) })),
            added: added, preTokenizer: PreTokenizer([.cut(.characters(.whiteSpace), .removed, inverted: false)]),
            postProcessor: .bert(cls: cls, sep: end), decoder: TokenDecoder([.spaced]))
    }

    /// The lines of the file without white space at their ends.
    private func lines() throws(AIError) -> [ArraySlice<UInt8>] {
        let bytes = try contents(path)
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return bytes.withUnsafeBufferPointer { bytes in
            lines.map { line in
                var end = line.endIndex
                while end > line.startIndex {
                    let (value, width) = bytes.scalar(before: end)
                    guard CharacterClass.isWhiteSpace(value) else { break }
                    end -= width
                }
                return line[..<end]
            }
        }
    }

    /// Of equal lines the last counts.
    private static func vocabulary(_ lines: [ArraySlice<UInt8>]) -> Vocabulary {
        var vocabulary = Vocabulary(count: lines.count)
        for (id, line) in lines.enumerated() {
            line.withUnsafeBufferPointer { _ = vocabulary.add($0, id: Int32(id)) }
        }
        return vocabulary
    }
}
