/// Why a generation ended. The set is open: a provider's own word passes through as it is.
public struct FinishReason: RawRepresentable, Sendable, Hashable {
    /// The word, as `--json` prints it.
    public let rawValue: String

    /// A reason by its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The model's end token.
    public static let stop = FinishReason(rawValue: "stop")
    /// The requested number of tokens, or the end of the context.
    public static let length = FinishReason(rawValue: "length")
    /// A stop sequence.
    public static let stopSequence = FinishReason(rawValue: "stop_sequence")
    /// The model calls tools.
    public static let toolCalls = FinishReason(rawValue: "tool_calls")
    /// The provider withheld the rest.
    public static let contentFilter = FinishReason(rawValue: "content_filter")
    /// The caller cancelled.
    public static let cancelled = FinishReason(rawValue: "cancelled")

    /// The model's own end in the words of several servers.
    private static let ends: Set = [
        "stop", "tool_calls", "function_call", "tool_use", "eos", "eos_token", "end_turn",
    ]

    /// Whether something else than the model ended the text: what it wrote last may not be whole.
    var isCut: Bool { !Self.ends.contains(rawValue.lowercased()) }
}
