import HubCore

/// Checks what goes into a conversation and what comes out of it. None is built in.
public protocol Guardrail: Sendable {
    /// Throws for a prompt that must not reach the model. The conversation stays as it was.
    func check(prompt: String) async throws
    /// Throws for an answer that must not be shown. The prompt is taken back with it.
    func check(response: String) async throws
}

extension Guardrail {
    /// Every prompt passes.
    public func check(prompt: String) async throws {}
    /// Every answer passes.
    public func check(response: String) async throws {}
}

/// What a session does when a conversation no longer fits into the model's context.
public enum ContextPolicy: String, Sendable, Hashable, CaseIterable {
    /// It throws ``ErrorCode/contextFull``.
    case none
    /// The oldest turns are no longer sent.
    case dropOldestTurns = "drop_oldest_turns"
    /// The model sums up the oldest turns, and its summary is sent in their place.
    case summarize
}
