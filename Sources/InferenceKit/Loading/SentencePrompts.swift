import HubCore
import ModelFormats

/// What is put before texts, by name: config_sentence_transformers.json.
struct SentencePrompts: Sendable, Hashable {
    private var texts: [String: String] = [:]
    /// The names, in the order of the file.
    private(set) var names: [String] = []
    private var defaultName: String?
    private(set) var similarity = EmbeddingSimilarity.cosine

    init() {}

    /// - Throws: ``ErrorCode/malformedModel`` for a default that is not a prompt, or an unknown similarity.
    init(_ settings: JSON?, path: String) throws(AIError) {
        for (name, text) in settings?["prompts"]?.object?.members ?? [] {
            guard let text = text.string else {
                throw .malformed(path, "its prompt \"\(name.printable)\" is not a string")
            }
            if texts.updateValue(text, forKey: name) == nil { names.append(name) }
        }
        defaultName = settings?["default_prompt_name"]?.string
        if let defaultName, texts[defaultName] == nil {
            throw .malformed(path, "its default_prompt_name \"\(defaultName.printable)\" is not one of its prompts")
        }
        guard let name = settings?["similarity_fn_name"]?.string else { return }
        guard let similarity = EmbeddingSimilarity(rawValue: name) else {
            throw .malformed(path, "its similarity_fn_name \"\(name.printable)\" is unknown")
        }
        self.similarity = similarity
    }

    /// The prompt of a name; without one, the default.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for an unknown name.
    func text(_ name: String?) throws(AIError) -> String {
        guard let name else { return defaultName.flatMap { texts[$0] } ?? "" }
        if let text = texts[name] { return text }
        // Every model of sentence-transformers has these two.
        if ["query", "document"].contains(name) { return "" }
        let known = names.isEmpty ? "it has none" : "it has \(names.map(\.printable).joined(separator: ", "))"
        throw AIError(.invalidInput, "the model has no prompt \"\(name.printable)\"; \(known)")
    }
}

/// How the vectors of a model are compared.
public enum EmbeddingSimilarity: String, Sendable, Hashable, CaseIterable {
    case cosine, dot, euclidean, manhattan
}
