import HubCore
import ModelFormats

/// A SentencePiece model that cuts texts, and a vocab.json with the ids.
extension VocabularyFolder {
    /// Marian and M2M-100.
    func renumbered() throws(AIError) -> TokenizerParts {
        let piecesPath = Path.join(folder, tokenizerClass.otherFile ?? "")
        let file = try SentencePieceFile(
            try TokenizerFile.contents(piecesPath) ?? [], path: piecesPath)
        if settings.bool("separate_vocabs") == true {
            throw .unsupported(path, "a tokenizer with separate_vocabs cannot be used yet")
        }
        let vocabulary = try jsonVocabulary()
        guard let unknown = special["unk_token"].flatMap({ vocabulary.id(of: $0) }) else {
            throw .malformed(path, "it has no unk_token")
        }
        var parts = try file.parts()
        parts.added = try special.added(parts.normalizer, vocabulary, more: languageMarks(vocabulary))
        parts.kind += " with the ids of vocab.json"
        parts.model = .renumbered(RenumberedModel(parts.model, vocabulary, unknown: unknown))
        parts.postProcessor = PostProcessor(
            before: tokenizerClass == .m2m100 ? try language(parts.added) : nil,
            after: try id("eos_token", parts.added))
        parts.decoder = TokenDecoder([.metaspace(SentencePieceSpace.bytes, dropsFirst: true)])
        return parts
    }

    /// What says the language of a translation in front of a text: `>>fra<<`.
    private func languageMarks(_ vocabulary: Vocabulary) -> [JSONObject] {
        guard tokenizerClass == .marian else { return [] }
        var marks: [String] = []
        vocabulary.forEach { _, spelling in
            guard spelling.starts(with: ">>".utf8), spelling.suffix(2).elementsEqual("<<".utf8) else { return }
            marks.append(String(decoding: spelling, as: UTF8.self))
        }
        return marks.map { ["content": .string($0), "special": true, "normalized": false] }
    }

    /// The token of the language of a text: English, if the files do not say.
    func language(_ added: AddedTokens) throws(AIError) -> Int {
        let told = settings.config?["src_lang"]?.string
        let language = tokenizerClass == .m2m100 ? "__\(told ?? "en")__" : told ?? "en_XX"
        let content = Array(language.utf8)
        guard let id = added.tokens.first(where: { $0.content == content })?.id else {
            throw .malformed(settings.configPath, "it has no token for the language \(language.excerpt)")
        }
        return id
    }
}
