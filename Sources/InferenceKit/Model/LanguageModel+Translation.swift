public import HubCore

extension LanguageModel {
    /// A text in another language: the likeliest translation, token by token.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for languages that the model does not have, and for a text that is empty or
    ///   longer than the context; ``ErrorCode/cancelled``.
    public func translate(_ text: String, _ translation: Translation = Translation()) async throws(AIError)
        -> String
    {
        var config = GenerateConfig.precise
        config.translation = translation
        return try await generate(prompt: text, config: config).collect()
    }
}
