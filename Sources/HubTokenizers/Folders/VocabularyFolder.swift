import HubCore
import ModelFormats

/// A folder with the vocabulary of a ``TokenizerClass``, and without a tokenizer.json.
struct VocabularyFolder {
    let tokenizerClass: TokenizerClass
    let settings: TokenizerSettings
    let special: SpecialTokens
    /// The vocabulary.
    let path: String
    let folder: String

    /// nil if the folder has no vocabulary, or that of another class.
    init?(_ folder: String) throws(AIError) {
        let names = TokenizerKind.vocabularyNames.filter { FileSystem.exists(Path.join(folder, $0)) }
        guard !names.isEmpty else { return nil }
        settings = try TokenizerSettings(folder: folder)
        guard let found = Self.tokenizerClass(settings, names),
            let name = found.fileNames.first(where: names.contains)
        else { return nil }
        let needed = found.otherFile
        if let needed, !FileSystem.exists(Path.join(folder, needed)) { return nil }
        tokenizerClass = found
        special = SpecialTokens(settings, found)
        path = Path.join(folder, name)
        self.folder = folder
    }

    private static func tokenizerClass(_ settings: TokenizerSettings, _ names: [String]) -> TokenizerClass? {
        if !settings.kind.isEmpty { return TokenizerClass(name: settings.kind) }
        // Nothing but BERT's class has this file alone.
        return settings.modelType.flatMap(TokenizerClass.init(modelType:)) ?? (names == ["vocab.txt"] ? .bert : nil)
    }

    func parts() throws(AIError) -> TokenizerParts {
        var parts =
            switch tokenizerClass {
            case .bert, .distilBert, .mpnet: try wordPiece()
            case .esm: try words()
            case .roberta, .deberta, .gpt2: try bytePairs()
            case .xlmRoberta, .camembert, .albert, .debertaV2, .mBart, .mBart50, .siglip: try unigram()
            case .marian, .m2m100: try renumbered()
            case .kimi: try ranked()
            }
        parts.take(settings)
        return parts
    }

    /// Whether it is read before a tokenizer.json: transformers' class knows nothing else.
    var comesFirst: Bool { tokenizerClass == .siglip }

    /// The whole vocabulary file.
    func contents(_ path: String) throws(AIError) -> [UInt8] {
        guard let bytes = try TokenizerFile.contents(path) else {
            throw .malformed(path, "it is missing")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .malformed(path, "it is not UTF-8") }
        return bytes
    }

    /// The id of the special token of a role.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if there is none.
    func id(_ role: String, _ added: AddedTokens) throws(AIError) -> Int {
        let content = special[role].map { Array($0.utf8) }
        guard let id = added.tokens.first(where: { $0.content == content })?.id else {
            throw .malformed(settings.configPath, "it has no \(role)")
        }
        return id
    }
}

extension TokenizerClass {
    /// The file that it reads beside the vocabulary; nil for none.
    var otherFile: String? {
        switch self {
        case .roberta, .deberta, .gpt2: "merges.txt"
        case .marian: "source.spm"
        case .m2m100: "sentencepiece.bpe.model"
        default: nil
        }
    }

    /// The files that a vocabulary is read from; the first that exists counts.
    fileprivate var fileNames: [String] {
        switch self {
        case .bert, .distilBert, .mpnet, .esm: ["vocab.txt"]
        case .roberta, .deberta, .gpt2, .marian, .m2m100: ["vocab.json"]
        case .kimi: ["tiktoken.model"]
        case .xlmRoberta, .camembert, .albert, .debertaV2, .mBart, .mBart50, .siglip:
            TokenizerKind.sentencePieceNames
        }
    }
}
