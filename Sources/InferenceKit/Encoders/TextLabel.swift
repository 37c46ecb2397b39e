/// A text, or two, to classify.
public struct TextPair: Sendable, Hashable {
    /// The text, or the first of two.
    public var first: String
    /// The second: the answer to a question, or the hypothesis for a premise.
    public var second: String?

    /// A text, or two.
    public init(_ first: String, _ second: String? = nil) { (self.first, self.second) = (first, second) }
}

/// A label of a text or of a picture.
public struct TextLabel: Sendable, Hashable {
    /// As the configuration names it.
    public let label: String
    /// Its probability, or the output itself if the model was trained to give numbers.
    public let score: Double
    /// The output.
    public let logit: Double

    /// A label of a text.
    public init(label: String, score: Double, logit: Double) {
        (self.label, self.score, self.logit) = (label, score, logit)
    }
}

/// A token with its label.
public struct TokenLabel: Sendable, Hashable {
    /// As the vocabulary spells it; an unknown one as it is in the text.
    public let token: String
    /// The best label.
    public let label: String
    /// Its probability.
    public let score: Double
    /// Where the token begins in the text, in Unicode scalars, as Python counts characters.
    public let start: Int
    /// Where it ends.
    public let end: Int

    /// A token with its label.
    public init(token: String, label: String, score: Double, start: Int, end: Int) {
        (self.token, self.label, self.score, self.start, self.end) = (token, label, score, start, end)
    }
}

/// A word that may stand behind a mask.
public struct MaskCandidate: Sendable, Hashable {
    /// The token's text.
    public let token: String
    /// The token's id.
    public let id: Int
    /// Its probability.
    public let probability: Double

    /// A word that may stand behind a mask.
    public init(token: String, id: Int, probability: Double) {
        (self.token, self.id, self.probability) = (token, id, probability)
    }
}
