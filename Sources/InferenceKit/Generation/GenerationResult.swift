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
    /// The random seed used; 0 if a provider does not tell it.
    public let seed: UInt64
    /// The peak resident memory of this process in bytes; 0 if unknown.
    public let peakMemoryBytes: Int64
    /// Prompt tokens that were computed before, for an earlier turn with the same beginning.
    public let cachedTokens: Int
    /// Tokens that were guessed from the text itself.
    public let draftedTokens: Int
    /// Those of them that were right.
    public let acceptedTokens: Int

    /// The model's reasoning before its answer, if a provider keeps it apart from the text.
    public let reasoning: String?
    /// The tools that the model calls.
    public let toolCalls: [GeneratedToolCall]
    /// The provider's count of tokens; nil if it gives none. A local model's are ``promptIDs`` and ``ids``.
    public let usage: TokenUsage?
    /// Who answered, if a provider tells it: `groq`.
    public let servedBy: String?

    /// A result of a provider's own.
    public init(
        promptIDs: [Int] = [], ids: [Int] = [], text: String, finishReason: FinishReason, loadSeconds: Double = 0,
        ttftSeconds: Double? = nil, promptTokensPerSecond: Double = 0, tokensPerSecond: Double = 0,
        seed: UInt64 = 0,
        peakMemoryBytes: Int64 = 0, cachedTokens: Int = 0, draftedTokens: Int = 0, acceptedTokens: Int = 0,
        reasoning: String? = nil, toolCalls: [GeneratedToolCall] = [], usage: TokenUsage? = nil,
        servedBy: String? = nil
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
        self.reasoning = reasoning
        self.toolCalls = toolCalls
        self.usage = usage
        self.servedBy = servedBy
    }
}
