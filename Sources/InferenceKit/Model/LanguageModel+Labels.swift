public import HubCore
import HubTokenizers

extension LanguageModel {
    /// The labels of a classifier, in the order of its outputs; empty for another model.
    public var labels: [String] { model.labels?.names ?? [] }

    /// The labels of texts, of each all of them, best first. Longer texts than the model takes are cut.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model without labels of texts, ``ErrorCode/invalidInput`` for a
    ///   text without tokens, ``ErrorCode/cancelled``.
    public func classify(_ texts: [TextPair]) async throws(AIError) -> [[TextLabel]] {
        guard tasks.contains(.classification), let labels = model.labels else {
            throw mismatch("it gives texts no labels")
        }
        let scores = LabelScores(labels)
        return try await outputs(texts).map { outputs in Self.labels(labels.names, outputs.map(Double.init), scores)
        }
    }

    /// Which of some labels fits a text, best first: each is put in a sentence, and a model for natural language
    /// inference says how much the text entails it. https://arxiv.org/abs/1909.00161
    ///
    /// - Parameters:
    ///   - template: the sentence, with `{}` in the label's place.
    ///   - isMultiple: whether several may fit; otherwise the scores add up to 1.
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model without a label for entailment,
    ///   ``ErrorCode/invalidInput`` without labels or for a template without `{}`, ``ErrorCode/cancelled``.
    public func classify(
        _ text: String, as candidates: [String], template: String = "This example is {}.", isMultiple: Bool = false
    ) async throws(AIError) -> [TextLabel] {
        guard let entailment else {
            throw mismatch("it has no label for entailment, by which other labels are tried")
        }
        guard !candidates.isEmpty else { throw AIError(.invalidInput, "there are no labels to try") }
        guard template.contains("{}") else { throw AIError(.invalidInput, "the template has no {}") }
        let pairs = candidates.map { TextPair(text, template.replacing("{}", with: $0)) }
        let outputs = try await outputs(pairs, cutting: .onlyFirst).map { $0.map(Double.init) }
        let logits = outputs.map { $0[entailment] }
        guard isMultiple || candidates.count == 1 else { return Self.labels(candidates, logits, .softmax) }
        // Against contradiction, which stands at the other end of the labels.
        let contradiction = entailment == 0 ? labels.count - 1 : 0
        let scores = outputs.map { LabelScores.softmax([$0[contradiction], $0[entailment]])[1] }
        return zip(candidates, zip(scores, logits)).map { TextLabel(label: $0, score: $1.0, logit: $1.1) }
            .sortedByScore()
    }

    /// Whether it can try labels of one's own: a classifier with a label for entailment.
    public var entails: Bool { entailment != nil }

    /// The output that says how much a text entails another.
    private var entailment: Int? {
        guard task == .classification else { return nil }
        return labels.firstIndex { $0.lowercased().hasPrefix("entail") }
    }

    /// The best label of each token of texts, without special tokens. Longer texts than the model takes are cut.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model without labels of tokens, ``ErrorCode/invalidInput`` for a
    ///   text without tokens, ``ErrorCode/cancelled``.
    public func labelTokens(_ texts: [String]) async throws(AIError) -> [[TokenLabel]] {
        guard task == .tokenClassification, let labels = model.labels else {
            throw mismatch("it gives tokens no labels")
        }
        return try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            var read: [TokenizedText] = []
            for text in texts { read.append(try model.tokenized(text, withOffsets: true)) }
            var run = EncoderRun(model.computation, workspace)
            let outputs = try run.outputs(read.map(model.input), isCancelled: isCancelled)
            return texts.indices.map {
                Self.tokens(texts[$0], read[$0], outputs[$0], labels.names, model.tokenizer)
            }
        }
    }

    /// Spellings of words that are not in the vocabulary.
    private static let unknown: Set = ["[UNK]", "<unk>"]

    private static func tokens(
        _ original: String, _ text: TokenizedText, _ outputs: [Float], _ names: [String], _ tokenizer: Tokenizer
    ) -> [TokenLabel] {
        let scalars = Array(original.unicodeScalars)
        return text.ids.indices.filter { text.texts[$0] != nil }.map { place in
            let row = outputs[place * names.count..<(place + 1) * names.count].map(Double.init)
            let scores = LabelScores.softmax(row)
            let best = row.indices.max { row[$0] < row[$1] } ?? 0
            let range = text.offsets?[place] ?? 0..<0
            var token = tokenizer.token(text.ids[place]) ?? ""
            if Self.unknown.contains(token) { token = String(String.UnicodeScalarView(scalars[range])) }
            return TokenLabel(
                token: token, label: names[best], score: scores[best],
                start: range.lowerBound, end: range.upperBound)
        }
    }

    static func labels(_ names: [String], _ outputs: [Double], _ scores: LabelScores) -> [TextLabel] {
        zip(names, zip(scores(outputs), outputs)).map { TextLabel(label: $0, score: $1.0, logit: $1.1) }
            .sortedByScore()
    }
}

extension [TextLabel] {
    /// Best first; of equal ones the first of the list.
    fileprivate func sortedByScore() -> [TextLabel] {
        enumerated().sorted { left, right in
            if left.element.score != right.element.score { return left.element.score > right.element.score }
            return left.offset < right.offset
        }.map(\.element)
    }
}
