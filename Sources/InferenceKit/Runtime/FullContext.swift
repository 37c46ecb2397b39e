import HubCore

/// The numbers of a conversation that does not fit: the cause of ``ErrorCode/contextFull``.
public struct FullContext: Error, Sendable, Hashable {
    /// Tokens that the conversation has.
    public var promptTokens: Int
    /// Tokens that the context has room for, an answer included.
    public var contextTokens: Int

    init(_ promptTokens: Int, _ contextTokens: Int) {
        (self.promptTokens, self.contextTokens) = (promptTokens, contextTokens)
    }

    /// - Parameter what: what is too long, as the subject of the message, such as `the prompt`.
    func error(of what: String = "the conversation") -> AIError {
        AIError(
            .contextFull,
            "\(what) has \(promptTokens.grouped) tokens; the context has room for \(contextTokens.grouped)",
            cause: self)
    }
}
