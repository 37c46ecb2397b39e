/// Why a generation ended.
public enum FinishReason: String, Sendable, Hashable {
    /// The model's end token.
    case stop
    /// The requested number of tokens, or the end of the context.
    case length
    /// A stop sequence.
    case stopSequence = "stop_sequence"
    /// The caller cancelled.
    case cancelled
}

/// One step of a generation: a token, or the end.
public struct GenerationChunk: Sendable {
    /// Final text: whole characters, and no part of a stop sequence. Often empty for a token that is part of a
    /// character.
    public let text: String
    /// Tokens in this chunk: 1, and 0 for the last chunk.
    public let tokenCount: Int
    /// The token's id; nil in the last chunk.
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
        text: String, tokenCount: Int? = nil, tokenId: Int? = nil, logprob: Double? = nil,
        topLogprobs: [TokenLogprob] = [], tokensPerSecond: Double = 0, finishReason: FinishReason? = nil,
        timestamp: ContinuousClock.Instant = .now, result: GenerationResult? = nil
    ) {
        self.text = text
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

/// The result of a generation, with timings.
public struct GenerationResult: Sendable, Hashable {
    /// The prompt's token ids, special tokens included.
    public let promptIDs: [Int]
    /// Every generated token id in order; an end token that stopped it is the last.
    public let ids: [Int]
    /// The generated text, without special tokens and stop sequence.
    public let text: String
    /// Why it ended.
    public let finishReason: FinishReason
    /// Time to open the model, in seconds.
    public let loadSeconds: Double
    /// From the start of the work on the prompt to the first token, in seconds; nil if there was none.
    public let ttftSeconds: Double?
    /// Prompt tokens per second.
    public let promptTokensPerSecond: Double
    /// Generated tokens per second after the first; 0 if there were fewer than two.
    public let tokensPerSecond: Double
    /// The random seed used.
    public let seed: UInt64
    /// The peak resident memory of this process in bytes; 0 if unknown.
    public let peakMemoryBytes: Int64
    /// Prompt tokens that were computed before, for an earlier turn with the same beginning.
    public let cachedTokens: Int
    /// Tokens that were guessed from the text itself.
    public let draftedTokens: Int
    /// Those of them that were right.
    public let acceptedTokens: Int

    /// A result of a provider's own.
    public init(
        promptIDs: [Int] = [], ids: [Int] = [], text: String, finishReason: FinishReason, loadSeconds: Double = 0,
        ttftSeconds: Double? = nil, promptTokensPerSecond: Double = 0, tokensPerSecond: Double = 0,
        seed: UInt64 = 0,
        peakMemoryBytes: Int64 = 0, cachedTokens: Int = 0, draftedTokens: Int = 0, acceptedTokens: Int = 0
    ) {
        self.promptIDs = promptIDs
        self.ids = ids
        self.text = text
        self.finishReason = finishReason
        self.loadSeconds = loadSeconds
        self.ttftSeconds = ttftSeconds
        self.promptTokensPerSecond = promptTokensPerSecond
        self.tokensPerSecond = tokensPerSecond
        self.seed = seed
        self.peakMemoryBytes = peakMemoryBytes
        self.cachedTokens = cachedTokens
        self.draftedTokens = draftedTokens
        self.acceptedTokens = acceptedTokens
    }
}
