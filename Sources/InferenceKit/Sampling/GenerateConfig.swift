public import HubGrammar

/// How text is generated. Every field is honoured; a value out of range is ``ErrorCode/invalidInput``.
///
/// They act on the logits in the order of transformers: bias, penalties, temperature, top-k, top-p, min-p, typical.
public struct GenerateConfig: Sendable, Hashable {
    /// Maximum number of new tokens, 0 to 2^30; the model's context may end the text sooner. 0 only reads the prompt.
    public var maxTokens: Int
    /// Divides the logits, 0 to 100; 0 always takes the likeliest token.
    public var temperature: Double
    /// Only the k likeliest tokens, 1 to 1,000,000; nil for all.
    public var topK: Int?
    /// Only the likeliest tokens that together reach this probability, 0 to 1, at least one; nil for all.
    public var topP: Double?
    /// Only tokens at least this likely compared with the likeliest, 0 to 1; nil for all.
    public var minP: Double?
    /// Only the tokens whose surprise is nearest to the expected one and that together reach this probability, 0
    /// to 1, at least one (https://arxiv.org/abs/2202.00666); nil for all.
    public var typicalP: Double?
    /// Added to the logits of tokens, by id, -1000 to 1000; -100 practically bans a token.
    public var logitBias: [Int: Double]
    /// Divides positive and multiplies negative logits of every token in the prompt or the text so far
    /// (https://arxiv.org/abs/1909.05858); 0.01 to 100, 1 for none.
    public var repetitionPenalty: Double
    /// Subtracted from a token's logit for each time it was generated, -100 to 100; 0 for none.
    public var frequencyPenalty: Double
    /// Subtracted once from the logit of a generated token, -100 to 100; 0 for none.
    public var presencePenalty: Double
    /// How many of the last tokens the penalties look at, 0 to 2^30; nil for all, 0 for none.
    public var penaltyWindow: Int?
    /// Texts that end the generation, at most 64; they are not part of the text.
    public var stopSequences: [String]
    /// The random seed; nil for a random one, which the result reports.
    public var seed: UInt64?
    /// Whether generation continues past the model's end token.
    public var ignoresEndOfSequence: Bool
    /// The number of alternatives reported with log probabilities per token, at most 20; nil for no log probabilities.
    public var topLogprobs: Int?
    /// Whether tokens are guessed from the text itself and verified several at once. It changes nothing but the time.
    public var speculates: Bool
    /// What the text has to look like; nil for any text. Tokens that do not fit are never chosen, whatever the other
    /// settings say, and text that must come is not sampled.
    public var constraint: OutputConstraint?
    /// The languages of a translation; nil for a text that is not to be translated, and for a model that knows without.
    public var translation: Translation?

    /// A configuration with the defaults of ``default``.
    public init(
        maxTokens: Int = 512, temperature: Double = 0.7, topK: Int? = nil, topP: Double? = 0.9, minP: Double? = nil,
        typicalP: Double? = nil, logitBias: [Int: Double] = [:], repetitionPenalty: Double = 1,
        frequencyPenalty: Double = 0, presencePenalty: Double = 0,
        stopSequences: [String] = [], seed: UInt64? = nil, ignoresEndOfSequence: Bool = false,
        topLogprobs: Int? = nil, speculates: Bool = true, constraint: OutputConstraint? = nil
    ) {
        self.maxTokens = maxTokens
        self.temperature = temperature
        self.topK = topK
        self.topP = topP
        self.minP = minP
        self.typicalP = typicalP
        self.logitBias = logitBias
        self.repetitionPenalty = repetitionPenalty
        self.frequencyPenalty = frequencyPenalty
        self.presencePenalty = presencePenalty
        self.stopSequences = stopSequences
        self.seed = seed
        self.ignoresEndOfSequence = ignoresEndOfSequence
        self.topLogprobs = topLogprobs
        self.speculates = speculates
        self.constraint = constraint
    }

    /// Temperature 0.7, top-p 0.9.
    public static let `default` = GenerateConfig()
    /// Always the likeliest token.
    public static let precise = GenerateConfig(temperature: 0, topP: nil)
    /// Temperature 1, top-p 0.95, min-p 0.05.
    public static let creative = GenerateConfig(temperature: 1, topP: 0.95, minP: 0.05)
    /// Temperature 0.2, top-p 0.95, up to 1,024 tokens.
    public static let code = GenerateConfig(maxTokens: 1024, temperature: 0.2, topP: 0.95)

    /// Whether sampling is deterministic without a seed.
    public var isGreedy: Bool { temperature == 0 }
}

extension GenerateConfig {
    private func with(_ change: (inout GenerateConfig) -> Void) -> GenerateConfig {
        var copy = self
        change(&copy)
        return copy
    }

    /// This with another ``maxTokens``.
    public func maxTokens(_ value: Int) -> GenerateConfig { with { $0.maxTokens = value } }
    /// This with another ``temperature``.
    public func temperature(_ value: Double) -> GenerateConfig { with { $0.temperature = value } }
    /// This with another ``topK``.
    public func topK(_ value: Int?) -> GenerateConfig { with { $0.topK = value } }
    /// This with another ``topP``.
    public func topP(_ value: Double?) -> GenerateConfig { with { $0.topP = value } }
    /// This with another ``minP``.
    public func minP(_ value: Double?) -> GenerateConfig { with { $0.minP = value } }
    /// This with another ``typicalP``.
    public func typicalP(_ value: Double?) -> GenerateConfig { with { $0.typicalP = value } }
    /// This with another ``logitBias``.
    public func logitBias(_ value: [Int: Double]) -> GenerateConfig { with { $0.logitBias = value } }
    /// This with another ``speculates``.
    public func speculates(_ value: Bool) -> GenerateConfig { with { $0.speculates = value } }
    /// This with another ``constraint``.
    public func constraint(_ value: OutputConstraint?) -> GenerateConfig { with { $0.constraint = value } }
    /// This with another ``repetitionPenalty``.
    public func repetitionPenalty(_ value: Double) -> GenerateConfig { with { $0.repetitionPenalty = value } }
    /// This with another ``frequencyPenalty``.
    public func frequencyPenalty(_ value: Double) -> GenerateConfig { with { $0.frequencyPenalty = value } }
    /// This with another ``presencePenalty``.
    public func presencePenalty(_ value: Double) -> GenerateConfig { with { $0.presencePenalty = value } }
    /// This with another ``penaltyWindow``.
    public func penaltyWindow(_ value: Int?) -> GenerateConfig { with { $0.penaltyWindow = value } }
    /// This with other ``stopSequences``.
    public func stopSequences(_ value: [String]) -> GenerateConfig { with { $0.stopSequences = value } }
    /// This with another ``seed``.
    public func seed(_ value: UInt64?) -> GenerateConfig { with { $0.seed = value } }
    /// This with another ``ignoresEndOfSequence``.
    public func ignoresEndOfSequence(_ value: Bool) -> GenerateConfig { with { $0.ignoresEndOfSequence = value } }
    /// This with another ``topLogprobs``.
    public func topLogprobs(_ value: Int?) -> GenerateConfig { with { $0.topLogprobs = value } }
}
