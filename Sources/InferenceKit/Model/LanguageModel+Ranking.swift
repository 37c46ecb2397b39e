public import HubCore

extension LanguageModel {
    /// Texts by how well they answer a query, best first: a reranker reads each with the query, an embedding model
    /// compares vectors, one of each text or of each token. Longer texts than the model takes are cut.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model for another task, ``ErrorCode/invalidInput`` for a text
    ///   without tokens, ``ErrorCode/cancelled``.
    public func rank(_ texts: [String], for query: String) async throws(AIError) -> [RankedText] {
        if model.interaction != nil {
            let scores = try await numbers(texts.map { TextPair(query, $0) }, task)
            return zip(texts.indices, zip(texts, scores)).map { index, text in
                let sum = Double(text.1.values[0])
                return RankedText(index: index, text: text.0, score: sum, logit: sum)
            }.ranked()
        }
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

    /// Texts by the cosine of their vectors with that of a query, the nearest first. Query and texts get the prompts
    /// that the model has for each, as sentence-transformers' `encode_query` and `encode_document` do.
    ///
    /// - Parameter options: a prompt's name there is that of the query's.
    /// - Throws: What ``embed(_:options:)`` throws.
    public func rankByCosine(
        _ texts: [String], for query: String, options: EmbeddingOptions = EmbeddingOptions()
    ) async throws(AIError) -> [RankedText] {
        var (forQuery, forTexts) = (options, options)
        forQuery.promptName = options.promptName ?? promptName(["query"])
        forTexts.promptName = promptName(["document", "passage", "corpus"])
        let vector = try await embed([query], options: forQuery)[0]
        let index = try EmbeddingIndex(try await embed(texts, options: forTexts))
        return try index.nearest(to: vector, count: texts.count).map {
            RankedText(index: $0.index, text: texts[$0.index], score: $0.cosine)
        }
    }

    /// The first of some prompts that the model has.
    private func promptName(_ names: [String]) -> String? { names.first(where: promptNames.contains) }
}
