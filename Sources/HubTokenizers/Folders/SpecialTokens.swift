import HubCore
import ModelFormats

/// The special tokens of a folder by their roles, and its added tokens.
struct SpecialTokens {
    private let settings: TokenizerSettings
    /// The members that a tokenizer.json would have, by role.
    private var members: [(role: String, token: JSONObject)] = []

    init(_ settings: TokenizerSettings, _ tokenizerClass: TokenizerClass) {
        self.settings = settings
        let defaults = tokenizerClass.defaultTokens
        for role in TokenizerSettings.roles {
            guard let json = settings.specialToken(role) ?? defaults[role].map(JSON.string) else { continue }
            guard var token = Self.token(json) else { continue }
            token["special"] = true
            if role == "mask_token", json.string != nil, tokenizerClass.stripsBeforeMask { token["lstrip"] = true }
            members.append((role, token))
        }
    }

    private static func token(_ json: JSON) -> JSONObject? {
        if let text = json.string { return ["content": .string(text), "special": true] }
        guard json["content"]?.string != nil, var token = json.object else { return nil }
        token["__type"] = nil
        return token
    }

    /// The tokens without a role.
    private var named: [JSONObject]? { settings.otherSpecialTokens.map { $0.compactMap(Self.token) } }

    /// The text of a role.
    subscript(role: String) -> String? { members.first { $0.role == role }?.token["content"]?.string }

    /// The added tokens, in the order in which the reference adds them: new ones get the next ids.
    ///
    /// - Parameters:
    ///   - others: The tokens without a role, if the files name none.
    ///   - more: Further tokens, whatever the files name.
    func added(
        _ normalizer: Normalizer, _ vocabulary: Vocabulary, others: [JSONObject] = [], more: [JSONObject] = []
    ) throws(AIError) -> AddedTokens {
        var list = try listed()
        var known = Set(list.compactMap { $0["content"]?.string.map(ExactText.init) })
        for token in members.map(\.token) + (named ?? others) + more {
            guard let content = token["content"]?.string, known.insert(ExactText(content)).inserted else {
                continue
            }
            list.append(token)
        }
        var count = 0
        vocabulary.forEach { _, _ in count += 1 }
        var next = Int64(count)
        for index in list.indices {
            if let id = list[index]["content"]?.string.flatMap({ vocabulary.id(of: $0) }) {
                list[index]["id"] = .int(Int64(id))
                next = max(next, Int64(id) + 1)
            } else {
                list[index]["id"] = .int(next)
                next += 1
            }
        }
        return try AddedTokens(list.map(JSON.object), normalizer, vocabulary, path: settings.configPath)
    }

    /// The tokens of `added_tokens_decoder`, or of added_tokens.json, by id.
    private func listed() throws(AIError) -> [JSONObject] {
        let roles = Set(members.compactMap { $0.token["content"]?.string.map(ExactText.init) })
        var tokens: [(id: Int64, token: JSONObject)] = []
        if let list = settings.config?["added_tokens_decoder"]?.object {
            for (key, json) in list.members {
                guard let id = Int64(key), var token = json.object, let content = token["content"]?.string else {
                    throw .malformed(settings.configPath, "added_tokens_decoder has no valid token \(key.excerpt)")
                }
                token["__type"] = nil
                if roles.contains(ExactText(content)) { token["special"] = true }
                tokens.append((id, token))
            }
        } else if let list = settings.olderTokens?.object {
            let special = Set(
                (TokenizerSettings.roles.compactMap(settings.text)
                    + (settings.otherSpecialTokens ?? []).compactMap(TokenizerSettings.text)).map(ExactText.init))
            for (content, id) in list.members {
                guard let id = id.int else {
                    throw .malformed(settings.olderPath, "the added token \"\(content.excerpt)\" has no valid id")
                }
                let isSpecial = special.contains(ExactText(content))
                tokens.append(
                    (
                        id,
                        [
                            "content": .string(content), "normalized": .bool(!isSpecial),
                            "special": .bool(isSpecial || roles.contains(ExactText(content))),
                        ]
                    ))
            }
        }
        return tokens.sorted { $0.id < $1.id }.map(\.token)
    }
}
