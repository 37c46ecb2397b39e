public import HubCore

/// A provider that turns texts into vectors.
public protocol EmbeddingModel: AIModelProvider {
    /// Texts as vectors, in their order.
    func embed(_ texts: [String], options: EmbeddingOptions) async throws(AIError) -> [EmbeddingResult]
}

extension EmbeddingModel {
    /// Texts as vectors, in their order, as the model's own files say.
    public func embed(_ texts: [String]) async throws(AIError) -> [EmbeddingResult] {
        try await embed(texts, options: EmbeddingOptions())
    }
}

/// A provider that orders texts by how well they answer a query.
public protocol Reranker: AIModelProvider {
    /// The texts, best first.
    func rank(_ texts: [String], for query: String) async throws(AIError) -> [RankedText]
}

/// A provider that gives texts labels.
public protocol TextClassifier: AIModelProvider {
    /// The labels of each text, best first.
    func classify(_ texts: [TextPair]) async throws(AIError) -> [[TextLabel]]
    /// Which of some labels fits a text, best first.
    func classify(_ text: String, as labels: [String]) async throws(AIError) -> [TextLabel]
}

/// A provider that gives the tokens of texts labels: names of persons, parts of speech.
public protocol TokenClassifier: AIModelProvider {
    /// The best label of each token of each text.
    func labelTokens(_ texts: [String]) async throws(AIError) -> [[TokenLabel]]
}

/// A provider that finds the words behind masks.
public protocol MaskFiller: AIModelProvider {
    /// The likeliest words behind each mask of a text, likeliest first.
    func fill(_ text: String, count: Int) async throws(AIError) -> [[MaskCandidate]]
}

/// A provider that translates texts.
public protocol Translator: AIModelProvider {
    /// A text in another language.
    func translate(_ text: String, _ translation: Translation) async throws(AIError) -> String
}

extension TextClassifier {
    /// The labels of a text, best first.
    public func classify(_ text: String) async throws(AIError) -> [TextLabel] {
        try await classify([TextPair(text)]).first ?? []
    }
}

extension MaskFiller {
    /// The five likeliest words behind each mask of a text.
    public func fill(_ text: String) async throws(AIError) -> [[MaskCandidate]] { try await fill(text, count: 5) }
}
