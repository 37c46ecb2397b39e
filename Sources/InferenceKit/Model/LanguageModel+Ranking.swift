public import HubCore

extension LanguageModel {
    /// Texts by how well they answer a query, best first: a reranker reads each with the query, an embedding model
    /// compares vectors. Longer texts than the model takes are cut.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model for another task, ``ErrorCode/invalidInput`` for a text
    ///   without tokens, ``ErrorCode/cancelled``.
    public func rank(_ texts: [String], for query: String) async throws(AIError) -> [RankedText] {
        guard let scores = model.rankScores else {
            guard task == .embedding else { throw mismatch("it does not rank texts") }
            return try await rankByCosine(texts, for: query)
        }
        let outputs = try await outputs(texts.map { TextPair(query, $0) })
        return zip(texts.indices, zip(texts, outputs)).map { index, pair in
            let logit = Double(pair.1.first ?? .nan)
            return RankedText(index: index, text: pair.0, score: scores([logit])[0], logit: logit)
        }.ranked()
    }

    /// Texts by the cosine of their vectors with that of a query, the nearest first.
    ///
    /// - Throws: What ``embed(_:)`` throws.
    public func rankByCosine(_ texts: [String], for query: String) async throws(AIError) -> [RankedText] {
        let vectors = try await embed([query] + texts)
        let index = try EmbeddingIndex(vectors.dropFirst())
        return try index.nearest(to: vectors[0], count: texts.count).map {
            RankedText(index: $0.index, text: texts[$0.index], score: $0.cosine)
        }
    }
}
