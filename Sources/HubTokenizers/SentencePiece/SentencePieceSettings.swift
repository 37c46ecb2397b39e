import HubCore
import ModelFormats

/// What the settings beside a SentencePiece model say of a class that changes neither ids nor texts
/// (https://github.com/huggingface/transformers/blob/main/src/transformers/tokenization_python.py).
struct SentencePieceSettings {
    /// The added tokens of a model, and the pieces that are matched before anything else.
    typealias Added = [AddedTokens.Token]

    private let settings: TokenizerSettings

    /// Reads the files of a folder; any may be missing.
    init(folder: String) throws(AIError) {
        settings = try TokenizerSettings(folder: folder)
        if let reason = Self.reason(against: kind) {
            throw .unsupported(
                settings.configPath,
                "the tokenizer class \(settings.className.excerpt), which \(reason), cannot be used without a tokenizer.json yet"
            )
        }
    }

    /// The defaults without such files.
    init() { settings = TokenizerSettings() }

    // MARK: The class

    private var kind: String { settings.kind }

    private var isLlama: Bool { ["Llama", "CodeLlama"].contains(kind) }
    private var isT5: Bool { ["T5", "MT5"].contains(kind) }

    /// Why a class is unsupported: its behaviour is not in the model.
    private static func reason(against kind: String) -> String? {
        switch kind {
        case "Pegasus", "Nllb", "M2M100", "XGLM", "Barthez",
            "Bartpho",
            "PLBart", "Marian", "Speech2Text", "SeamlessM4T", "LayoutXLM", "MLuke", "ErnieM", "XLMProphetNet":
            "has ids that are not the model's own"
        case "BigBird", "XLNet", "FNet", "RemBert", "SpeechT5", "Lasr", "Udop", "VideoPrism":
            "puts tokens of its own around a text"
        case "Siglip", "Tipsv2", "GPTSw3", "Cpm": "rewrites a text first"
        default: nil
        }
    }

    // MARK: Special tokens around a text

    var addsBegin: Bool {
        settings.bool("add_bos_token") ?? ["Llama", "Gemma"].contains { settings.className.hasPrefix($0) }
    }

    var addsEnd: Bool { settings.bool("add_eos_token") ?? isT5 }

    /// Whether a space is added before a text; nil if these files do not say.
    var addsPrefix: Bool? { isLlama ? settings.bool("add_prefix_space") : nil }

    /// Whether text after an added token gets no space, as in Llama's class unless `legacy`.
    var prefixesOnlyTheStart: Bool { isLlama && settings.bool("legacy") != true }

    /// The id of `bos_token` or `eos_token`.
    ///
    /// - Parameter own: The model's own id, used if these files have none.
    /// - Throws: ``ErrorCode/malformedModel`` if it is not a token.
    func id(_ key: String, own: Int?, _ added: Added, _ vocabulary: Vocabulary) throws(AIError) -> Int? {
        guard let text = settings.text(of: key) else { return own }
        let content = Array(text.utf8)
        if let token = added.first(where: { $0.content == content }) { return token.id }
        guard let id = vocabulary.id(of: content) else {
            throw .malformed(settings.configPath, "the \(key) \"\(text.excerpt)\" is not a token")
        }
        return Int(id)
    }

    /// The special tokens, which must not be split.
    private var specialTexts: [String] {
        TokenizerSettings.roles.compactMap(settings.text)
            + (settings.otherSpecialTokens ?? []).compactMap(TokenizerSettings.text)
    }

    // MARK: Added tokens

    /// The added tokens of a model.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if its id belongs to another piece, or it is a piece with another id.
    func added(_ pieces: ScoredPieces) throws(AIError) -> Added {
        var tokens = try listed()
        var known: [[UInt8]: Int] = [:]
        for token in tokens {
            let own = pieces.vocabulary.id(of: token.content).map(Int.init)
            if let id = known.updateValue(token.id, forKey: token.content) ?? own, id != token.id {
                throw .malformed(
                    settings.configPath,
                    "the added token \"\(String(decoding: token.content, as: UTF8.self).excerpt)\" has the ids \(id) and \(token.id)"
                )
            }
        }
        func add(_ token: AddedTokens.Token) {
            guard known[token.content] == nil else { return }
            known[token.content] = token.id
            tokens.append(token)
        }
        for token in sentinels(after: pieces.types.count) { add(token) }
        for text in specialTexts {
            guard let id = pieces.vocabulary.id(of: text) else { continue }
            add(AddedTokens.Token(id: Int(id), content: Array(text.utf8)))
        }
        for token in pieces.addedTokens([.control]) { add(token) }
        return tokens
    }

    private func listed() throws(AIError) -> Added {
        let special = Set(specialTexts)
        var tokens: Added = []
        if let list = settings.config?["added_tokens_decoder"]?.object {
            for (key, json) in list.members {
                let part = try TokenizerComponent(json, place: "added_tokens_decoder", path: settings.configPath)
                let content = try part.string("content")
                var token = try Self.token(content, id: Int64(key), settings.configPath)
                token.isSpecial = try part.bool("special", default: false) || special.contains(content)
                token.isSingleWord = try part.bool("single_word", default: false)
                token.stripsLeft = try part.bool("lstrip", default: false)
                token.stripsRight = try part.bool("rstrip", default: false)
                if !content.isEmpty { tokens.append(token) }
            }
        } else if let list = settings.olderTokens?.object {
            for (content, id) in list.members where !content.isEmpty {
                var token = try Self.token(content, id: id.int, settings.olderPath)
                token.isSpecial = special.contains(content)
                tokens.append(token)
            }
        }
        return tokens
    }

    private static func token(_ content: String, id: Int64?, _ path: String) throws(AIError) -> AddedTokens.Token {
        guard let id, (0...Int64(Int32.max)).contains(id) else {
            throw .malformed(path, "the added token \"\(content.excerpt)\" has no valid id")
        }
        return AddedTokens.Token(id: Int(id), content: Array(content.utf8))
    }

    /// The tokens that T5's class appends, the last one first.
    private func sentinels(after count: Int) -> Added {
        guard isT5 else { return [] }
        let most = Int(min(max(settings.config?["extra_ids"]?.int ?? 100, 0), 1 << 16))
        return (0..<most).map { index in
            var token = AddedTokens.Token(id: count + most - 1 - index, content: Array("<extra_id_\(index)>".utf8))
            (token.stripsLeft, token.stripsRight) = (true, true)
            return token
        }
    }
}
