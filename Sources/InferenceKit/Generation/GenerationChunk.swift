/// Why a generation ended.
public enum FinishReason: String, Sendable, Hashable {
    /// The model's end token.
    case stop
    /// As many tokens as asked for, or as the context holds.
    case length
    /// A stop sequence.
    case stopSequence = "stop_sequence"
    /// The one who asked gave up.
    case cancelled
}

/// One step of a generation: a token, or the end.
public struct GenerationChunk: Sendable {
    /// Text that is certain now: whole characters, and no part of a stop sequence. Often empty for a token that is
    /// only part of a character.
    public let text: String
    /// Tokens in this chunk: 1, and 0 for the last chunk.
    public let tokenCount: Int
    /// The token's id; nil in the last chunk.
    public let tokenId: Int?
    /// The natural logarithm of the token's probability, where ``GenerateConfig/topLogprobs`` asks for it.
    public let logprob: Double?
    /// The likeliest tokens at this place, as many as ``GenerateConfig/topLogprobs`` asks for.
    public let topLogprobs: [TokenLogprob]
    /// Tokens per second so far, the first one not counted; 0 until there are two.
    public let tokensPerSecond: Double
    /// Why it ended; nil before the last chunk.
    public let finishReason: FinishReason?
    /// When the chunk was made.
    public let timestamp: ContinuousClock.Instant
    /// The whole outcome; in the last chunk only.
    public let result: GenerationResult?

    /// Whether this is the last chunk.
    public var isComplete: Bool { finishReason != nil }
}

/// What a generation made, and how fast.
public struct GenerationResult: Sendable, Hashable {
    /// The prompt's token ids, special tokens included.
    public let promptIDs: [Int]
    /// Every generated token id in order; an end token that stopped it is the last.
    public let ids: [Int]
    /// The generated text, special tokens and stop sequence left out.
    public let text: String
    /// Why it ended.
    public let finishReason: FinishReason
    /// How long the model took to open, in seconds.
    public let loadSeconds: Double
    /// From the start of the work on the prompt to the first token, in seconds; nil where there was none.
    public let ttftSeconds: Double?
    /// Prompt tokens per second.
    public let promptTokensPerSecond: Double
    /// Generated tokens per second after the first; 0 where there were fewer than two.
    public let tokensPerSecond: Double
    /// The seed that decided all draws.
    public let seed: UInt64
    /// The largest resident memory this process has had, in bytes.
    public let peakMemoryBytes: Int64
}
