public import HubChatTemplates
import HubCore

/// What was said in a conversation, in order. A value: it can be stored and continued.
public struct Transcript: Sendable, Hashable {
    /// What a person says.
    public struct Prompt: Sendable, Hashable {
        /// The text.
        public var text: String
        /// Pictures that belong to it.
        public var images: [Message.Picture]

        /// A prompt.
        public init(_ text: String, images: [Message.Picture] = []) {
            self.text = text
            self.images = images
        }
    }

    /// A turn of the model that calls tools.
    public struct ToolCalls: Sendable, Hashable {
        /// The calls as the model wrote them, each with an id.
        public var calls: [GeneratedToolCall]
        /// What the model said beside them.
        public var text: String
        /// What it reasoned before.
        public var reasoning: String?
    }

    /// A tool's answer. Each call has one.
    public struct ToolOutput: Sendable, Hashable {
        /// The id of the call.
        public var callID: String
        /// The tool.
        public var name: String
        /// The answer, or why there is none.
        public var text: String
        /// Whether the call failed or did not run.
        public var isError: Bool
    }

    /// The model's answer, which ends a turn.
    public struct Response: Sendable, Hashable {
        /// The text; as far as it came if ``finishReason`` is ``FinishReason/cancelled``.
        public var text: String
        /// What the model reasoned before.
        public var reasoning: String?
        /// Why it ended.
        public var finishReason: FinishReason
    }

    /// The trace of a shortening: from here on older turns are no longer sent. They stay in the transcript.
    public struct Shortening: Sendable, Hashable {
        /// What shortened it.
        public var policy: ContextPolicy
        /// Turns that were sent before and are not sent any more.
        public var droppedTurns: Int
        /// Turns before this entry that are still sent, the one under way included.
        public var keptTurns: Int
        /// Tokens of the conversation before.
        public var promptTokens: Int
        /// Tokens that the context has room for.
        public var contextTokens: Int
        /// What is sent in place of all turns that were dropped so far; nil for nothing.
        public var summary: String?
    }

    /// A part of a conversation.
    public enum Entry: Sendable, Hashable {
        /// What the application tells the model; the last ones count. An empty text is none.
        case instructions(String)
        /// The begin of a turn.
        case prompt(Prompt)
        /// Calls of tools, whose outputs follow in their order.
        case toolCalls(ToolCalls)
        /// A tool's answer.
        case toolOutput(ToolOutput)
        /// The end of a turn.
        case response(Response)
        /// Older turns are no longer sent.
        case shortening(Shortening)
    }

    /// All entries, in the order in which they came.
    public internal(set) var entries: [Entry] = []

    /// An empty conversation.
    public init() {}

    /// A conversation that begins with instructions.
    public init(instructions: String?) {
        if let instructions, !instructions.isEmpty { entries = [.instructions(instructions)] }
    }

    /// The instructions that count; nil for none.
    public var instructions: String? {
        for case .instructions(let text) in entries.reversed() { return text.isEmpty ? nil : text }
        return nil
    }

    /// The number of turns.
    public var turnCount: Int { starts.count }

    /// The last shortening; nil if all turns are sent.
    public var lastShortening: Shortening? {
        for case .shortening(let last) in entries.reversed() { return last }
        return nil
    }
}

extension Transcript {
    /// The places of the prompts.
    var starts: [Int] {
        entries.indices.filter { if case .prompt = entries[$0] { true } else { false } }
    }

    /// The first turn that is sent.
    var firstSentTurn: Int {
        let last = entries.lastIndex { if case .shortening = $0 { true } else { false } }
        guard let last, case .shortening(let shortening) = entries[last] else { return 0 }
        return max(0, starts.count { $0 < last } - shortening.keptTurns)
    }

    /// Takes the last turn away: its prompt and all that came of it.
    ///
    /// - Returns: its prompt; nil if there was no turn.
    public mutating func removeLastTurn() -> Prompt? {
        guard let start = starts.last, case .prompt(let prompt) = entries[start] else { return nil }
        let after = entries[start...].compactMap { entry -> Entry? in
            if case .instructions = entry { entry } else { nil }
        }
        entries.removeSubrange(start...)
        entries += after
        return prompt
    }

    /// Sets other instructions, from the next turn on.
    public mutating func instruct(_ text: String?) {
        guard text ?? "" != instructions ?? "" else { return }
        if case .instructions? = entries.last { entries.removeLast() }
        if text ?? "" != instructions ?? "" { entries.append(.instructions(text ?? "")) }
    }
}
