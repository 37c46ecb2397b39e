public import HubCore

extension Tokenizer {
    /// The tokens of a text, or of two, with types for the model and if requested their places.
    ///
    /// - Parameters:
    ///   - second: A second text, as for questions and answers.
    ///   - addSpecialTokens: Whether the tokenizer's own post-processor adds its tokens, such as `[CLS]` and `[SEP]`.
    ///   - maxTokens: How many tokens may result, special ones included; longer texts are cut.
    ///   - strategy: Which text is cut.
    ///   - withOffsets: Whether ``TokenizedText/offsets`` are wanted, which take more time.
    /// - Throws: as ``encode(_:addSpecialTokens:)``; ``ErrorCode/invalidInput`` if only one text may be cut and that is
    ///   not enough.
    public func encode(
        _ first: String, _ second: String?, addSpecialTokens: Bool = true, maxTokens: Int? = nil,
        cutting strategy: TruncationStrategy = .longestFirst, withOffsets: Bool = false
    ) throws(AIError) -> TokenizedText {
        let texts = [first] + (second.map { [$0] } ?? [])
        let truncation = maxTokens.map { Truncation(longest: $0, strategy, isFromLeft: truncatesLeft) }
        var result: TokenizedText
        if withOffsets {
            let tokens = try tokens(texts, addSpecialTokens: addSpecialTokens, truncation)
            result = TokenizedText(tokens, of: texts)
        } else {
            var ids: [[Int]] = []
            for text in texts { ids.append(try encode(text, addSpecialTokens: false)) }
            let added = addSpecialTokens ? postProcessor.addedCount(isPair: texts.count == 2) : 0
            try truncation?.truncate(&ids, added: added)
            result = postProcessor.process(ids, addSpecialTokens: addSpecialTokens)
        }
        if !givesTypes { result.types = [Int](repeating: 0, count: result.ids.count) }
        return result
    }

    /// The tokens of a text, or of two, with their origins, their words and the file's own limits.
    ///
    /// - Parameter appliesLimits: Whether the file's `truncation` and `padding` apply.
    package func encoding(
        _ text: String, pair: String? = nil, addSpecialTokens: Bool = true, appliesLimits: Bool = false
    ) throws(AIError) -> Encoding {
        let texts = [text] + (pair.map { [$0] } ?? [])
        var tokens = try tokens(
            texts, addSpecialTokens: addSpecialTokens, appliesLimits ? truncation : nil)
        if appliesLimits { padding?.pad(&tokens) }
        return Encoding(tokens: tokens)
    }

    private func tokens(_ originals: [String], addSpecialTokens: Bool, _ truncation: Truncation?) throws(AIError)
        -> [Encoding.Token]
    {
        var texts: [[Encoding.Token]] = []
        for (index, original) in originals.enumerated() {
            var sink = EncodingSink(isTracked: true)
            sink.sequence = index
            sink.spelledAsFound = model.spelledAsFound.map(Int.init)
            try encode(original, &sink)
            texts.append(sink.tokens)
        }
        let added = addSpecialTokens ? postProcessor.addedCount(isPair: texts.count == 2) : 0
        try truncation?.truncate(&texts, added: added)
        return postProcessor.process(
            texts, originals.map { Array($0.utf8) }, addSpecialTokens: addSpecialTokens
        ) { token in token.found ?? self.spelling(of: token.id) ?? [] }
    }
}
