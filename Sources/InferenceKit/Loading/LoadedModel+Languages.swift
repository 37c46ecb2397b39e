import HubCore
import HubTokenizers

/// How a prompt says from which language it is translated, and to which.
extension LoadedModel {
    private var languages: Languages? { model.description.languages }

    /// The languages that a model translates to, as it calls them; empty for a model for one, or for other things.
    var targets: [String] {
        switch languages {
        case .mark:
            tokenizer.specialTokens.filter { $0.hasPrefix(">>") && $0.hasSuffix("<<") }
                .map { String($0.dropFirst(2).dropLast(2)) }
        case .tokens: tokenizer.specialTokens.compactMap(Self.language)
        case .phrases(let phrases):
            phrases.reduce(into: []) { if !$0.contains($1.target) { $0.append($1.target) } }
        case nil: []
        }
    }

    /// Whether it is made for translations.
    var translates: Bool {
        switch languages {
        case .mark, .tokens: true
        case .phrases, nil: false
        }
    }

    /// The language of a token: `fr` of `__fr__`, `fra_Latn`, `fr_XX`.
    private static func language(_ token: String) -> String? {
        if let match = token.wholeMatch(of: /__(.+)__/) { return String(match.output.1) }
        return token.wholeMatch(of: /[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}/).map { _ in token }
    }

    private func isLanguage(_ id: Int) -> Bool {
        tokenizer.isSpecial(id) && tokenizer.token(id).flatMap(Self.language) != nil
    }

    /// What an encoder reads of a text to be translated, and what the decoder begins with.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for languages that the model does not have, and for a prompt that is empty or
    ///   longer than the context.
    func start(_ prompt: String, _ translation: Translation) throws(AIError) -> (source: [Int], ids: [Int]) {
        switch languages {
        case .mark:
            if translation.source != nil {
                throw AIError(.invalidInput, "the model finds out the language of a text by itself; leave it out")
            }
            guard let target = translation.target else { return try start(prompt, true) }
            guard targets.contains(target) else { throw unknown(target) }
            return try start(">>\(target)<< \(prompt)", true)
        case .tokens:
            guard let target = translation.target else { throw unknown(nil) }
            var ids = try promptIDs(prompt, true)
            if let source = translation.source {
                let id = try token(of: source)
                // The tokenizer puts a language of its own there.
                if let last = ids.last, isLanguage(last) {
                    ids[ids.count - 1] = id
                } else if isLanguage(ids[0]) {
                    ids[0] = id
                } else {
                    ids = try [id] + promptIDs(prompt, false) + eosIDs.sorted().prefix(1)
                }
            }
            guard ids.count <= context else {
                throw FullContext(ids.count, context).error(of: "the prompt")
            }
            // Where answers begin with a language, it is the only token before them.
            return (ids, answerStart.prefix(1).filter { !isLanguage($0) } + [try token(of: target)])
        case .phrases(let phrases):
            let found = phrases.filter {
                $0.target == translation.target && (translation.source ?? $0.source) == $0.source
            }
            guard let phrase = found.first else {
                throw unknown(translation.target, from: translation.source)
            }
            return try start(phrase.text + prompt, true)
        case nil: throw AIError(.unsupportedModel, "this model does not translate")
        }
    }

    private func token(of language: String) throws(AIError) -> Int {
        for token in ["__\(language)__", language] {
            if Self.language(token) != nil, let id = tokenizer.id(of: token), tokenizer.isSpecial(id) { return id }
        }
        throw unknown(language)
    }

    private func unknown(_ language: String?, from source: String? = nil) -> AIError {
        let names = targets.sorted()
        let shown =
            names.prefix(30).joined(separator: ", ") + (names.count > 30 ? ", and \(names.count - 30) more" : "")
        guard let language else {
            return AIError(.invalidInput, "the language to translate to is missing", advice: "it has \(shown)")
        }
        let from = source.map { " from \($0.printable)" } ?? ""
        return AIError(
            .invalidInput, "the model does not translate\(from) to \(language.printable)",
            advice: names.isEmpty ? "it has one language to translate to" : "it has \(shown)")
    }
}
