/// Where a generated text has to follow a grammar: as a whole, or in parts that a marker begins.
public struct OutputConstraint: Sendable, Hashable {
    /// How a model's reasoning before an answer is marked. It is free.
    public struct Reasoning: Sendable, Hashable {
        /// What begins it, if the model decides whether to reason; nil if the prompt has begun it.
        public var opening: String?
        /// What ends it, after which the answer begins.
        public var closing: String
        /// A special token between the closing and the answer; nil for none.
        public var delimiter: String?

        /// Reasoning between two markers.
        public init(opening: String? = nil, closing: String, delimiter: String? = nil) {
            self.opening = opening
            self.closing = closing
            self.delimiter = delimiter
        }
    }

    /// A part of a text that follows a grammar: what comes after a marker.
    public struct Section: Sendable, Hashable {
        /// The text that begins it, which may be a special token.
        public var marker: String
        /// What follows, after up to four characters of white space. Where it is complete, the text is free again.
        public var grammar: OutputGrammar

        /// A part after a marker.
        public init(after marker: String, _ grammar: OutputGrammar) {
            self.marker = marker
            self.grammar = grammar
        }
    }

    enum Form: Sendable, Hashable {
        /// With what the text has begun with already.
        case answer(OutputGrammar, Reasoning?, String)
        case sections([Section], String, Reasoning?)
    }

    let form: Form

    /// The whole answer follows a grammar, and ends where it is complete.
    ///
    /// - Parameter opening: what the prompt ends with that belongs to the text.
    public static func answer(
        _ grammar: OutputGrammar, reasoning: Reasoning? = nil, after opening: String = ""
    ) -> OutputConstraint {
        OutputConstraint(form: .answer(grammar, reasoning, opening))
    }

    /// The text is free but for what follows markers: tool calls.
    ///
    /// - Parameters:
    ///   - opening: what the prompt ends with that belongs to the text.
    ///   - reasoning: what the text may begin with, in which no marker counts.
    public static func sections(
        _ sections: [Section], after opening: String = "", reasoning: Reasoning? = nil
    ) -> OutputConstraint {
        OutputConstraint(form: .sections(sections, opening, reasoning))
    }

    /// The grammar of the whole answer; nil if there is none.
    public var grammar: OutputGrammar? {
        if case .answer(let grammar, _, _) = form { grammar } else { nil }
    }
}
