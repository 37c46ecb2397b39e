/// A provider's count of the tokens of one call.
public struct TokenUsage: Sendable, Hashable {
    /// Tokens of the prompt.
    public var promptTokens: Int
    /// Tokens of the answer, reasoning included.
    public var completionTokens: Int
    /// Tokens of the prompt that the provider had in a cache; nil if not told.
    public var cachedTokens: Int?
    /// Tokens of the reasoning; nil if not told.
    public var reasoningTokens: Int?

    /// A count.
    public init(
        promptTokens: Int, completionTokens: Int, cachedTokens: Int? = nil, reasoningTokens: Int? = nil
    ) {
        self.promptTokens = promptTokens
        self.completionTokens = completionTokens
        self.cachedTokens = cachedTokens
        self.reasoningTokens = reasoningTokens
    }

    /// Both together.
    public var totalTokens: Int { promptTokens + completionTokens }
}
