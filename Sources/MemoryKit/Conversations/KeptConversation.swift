public import HubChatTemplates

/// A conversation as it is kept.
public struct KeptConversation: Sendable, Hashable {
    /// One turn, and what is known of how it came about.
    public struct Turn: Sendable, Hashable {
        /// What was said.
        public var message: Message
        /// When, in seconds since 1970.
        public var at: Double
        /// Who answered, where it is an answer: `org/name`, or a folder's name.
        public var model: String?
        /// Where that is: `local`, `hf:groq`.
        public var provider: String?
        /// What the answer is based on: citations of documents, addresses of pages.
        public var sources: [String]

        /// A turn.
        public init(
            _ message: Message, at: Double, model: String? = nil, provider: String? = nil, sources: [String] = []
        ) {
            self.message = message
            self.at = at
            self.model = model
            self.provider = provider
            self.sources = sources
        }
    }

    /// Eight hexadecimal digits; empty until it is kept.
    public internal(set) var id = ""
    /// When it began, in seconds since 1970.
    public var createdAt: Double
    /// When the last turn was kept.
    public internal(set) var updatedAt: Double
    /// The model as it was asked for, so that it can be asked for again.
    public var model: String
    /// The provider as it was asked for: `auto`, `hf`, an address.
    public var provider: String
    /// The system message.
    public var system: String?
    /// The turns.
    public var turns: [Turn]
    /// How often it was kept, which tells whether another process kept it since.
    var version: Int64 = 0

    /// A conversation that has not begun.
    public init(
        model: String, provider: String, system: String? = nil, turns: [Turn] = [], at time: Double
    ) {
        (self.model, self.provider, self.system, self.turns) = (model, provider, system, turns)
        (createdAt, updatedAt) = (time, time)
    }

    /// The beginning of the first message, in one line; the texts of files before it are left out.
    public var title: String { Self.title(of: turns.first { $0.message.role == .user }?.message.content) }

    static func title(of text: String?) -> String {
        var typed = Substring(text ?? "")
        // A file's text holds no end of its own.
        while typed.hasPrefix("<file name=\""), let end = typed.firstRange(of: "\n</file>\n\n") {
            typed = typed[end.upperBound...]
        }
        if typed.isEmpty { typed = Substring(text ?? "") }
        let words = typed.split(whereSeparator: \.isWhitespace).prefix(24).joined(separator: " ")
        return String(words.prefix(100))
    }
}

/// A line of the list of conversations.
public struct ConversationEntry: Sendable, Hashable {
    /// Eight hexadecimal digits.
    public let id: String
    /// When it began, in seconds since 1970.
    public let createdAt: Double
    /// When the last turn was kept.
    public let updatedAt: Double
    /// The model as it was asked for.
    public let model: String
    /// The provider as it was asked for.
    public let provider: String
    /// The beginning of the first message.
    public let title: String
    /// Messages and answers.
    public let turns: Int
    /// Of a search: words around the place that was found.
    public var excerpt: String?
}
