/// One step of a generation: a token, or the end.
public struct GenerationChunk: Sendable {
    /// Final text: whole characters, and no part of a stop sequence. Often empty for a token that is part of a
    /// character.
    public let text: String
    /// The model's reasoning before its answer, in pieces, if a provider keeps it apart from the text.
    public let reasoning: String
    /// Tokens in this chunk: 1, and 0 for the last chunk and where a provider does not count them.
    public let tokenCount: Int
    /// The token's id; nil in the last chunk, and where a provider does not tell it.
    public let tokenId: Int?
    /// The natural logarithm of the token's probability, if ``GenerateConfig/topLogprobs`` is set.
    public let logprob: Double?
    /// The likeliest tokens at this position, ``GenerateConfig/topLogprobs`` of them.
    public let topLogprobs: [TokenLogprob]
    /// Tokens per second so far, the first one not counted; 0 until there are two.
    public let tokensPerSecond: Double
    /// Why it ended; nil before the last chunk.
    public let finishReason: FinishReason?
    /// When the chunk was made.
    public let timestamp: ContinuousClock.Instant
    /// The complete result; only in the last chunk.
    public let result: GenerationResult?

    /// A chunk of a provider's own: a token's text if `tokenId` is given or `tokenCount` above 0, or the end.
    ///
    /// - Parameter tokenCount: nil for 1, or 0 for the end.
    public init(
        text: String, reasoning: String = "", tokenCount: Int? = nil, tokenId: Int? = nil, logprob: Double? = nil,
        topLogprobs: [TokenLogprob] = [], tokensPerSecond: Double = 0, finishReason: FinishReason? = nil,
        timestamp: ContinuousClock.Instant = .now, result: GenerationResult? = nil
    ) {
        self.text = text
        self.reasoning = reasoning
        self.tokenCount = tokenCount ?? (finishReason == nil ? 1 : 0)
        self.tokenId = tokenId
        self.logprob = logprob
        self.topLogprobs = topLogprobs
        self.tokensPerSecond = tokensPerSecond
        self.finishReason = finishReason
        self.timestamp = timestamp
        self.result = result
    }

    /// Whether this is the last chunk.
    public var isComplete: Bool { finishReason != nil }
}
