import HubCore
import HubGrammar
import HubTokenizers

/// What a model needs to hold texts to constraints: the tree of its vocabulary, made once, and the engines of the
/// constraints used last with all they have found out.
final class GrammarEngines: Sendable {
    private struct Kept {
        let constraint: OutputConstraint
        let ends: Set<Int>
        let engine: MaskEngine
    }
    private struct State {
        var vocabulary: (tree: TokenVocabulary, spaced: [UInt64]?)?
        /// The last used one last.
        var engines: [Kept] = []
    }

    private let tokenizer: Tokenizer
    /// The number of the model's logits.
    private let vocabulary: Int
    private let state = Lock(State())

    private static let mostEngines = 8

    init(_ tokenizer: Tokenizer, vocabulary: Int) { (self.tokenizer, self.vocabulary) = (tokenizer, vocabulary) }

    /// A mask that holds a text to a constraint.
    ///
    /// - Parameter ends: the tokens that end a text.
    /// - Throws: ``ErrorCode/unsupportedModel`` for a tokenizer that cannot be held to one, ``ErrorCode/invalidInput`` for
    ///   a text that it cannot begin.
    func mask(_ constraint: OutputConstraint, ends: Set<Int>) throws(AIError) -> GrammarMask {
        let result: Result<GrammarMask, AIError> = state.withLock { state in
            Result { () throws(AIError) in
                let (tree, spaced) = try self.prepared(&state)
                let place = state.engines.firstIndex { $0.constraint == constraint && $0.ends == ends }
                var kept = place.map { state.engines.remove(at: $0) }
                if kept.map({ $0.engine.isLarge || $0.engine.failure != nil }) ?? true {
                    kept = Kept(
                        constraint: constraint, ends: ends, engine: try MaskEngine(constraint, tree, ends: ends))
                }
                guard let kept else { preconditionFailure("an engine was made") }
                guard spaced == nil || !kept.engine.mustBeginWithSpace else {
                    throw AIError(
                        .invalidInput,
                        "the form of the answer begins with a space, which this model's tokenizer leaves out there",
                        advice: "leave out the first space")
                }
                state.engines.append(kept)
                if state.engines.count > Self.mostEngines { state.engines.removeFirst() }
                return GrammarMask(kept.engine, self.tokenizer, spaced: spaced)
            }
        }
        return try result.get()
    }

    private func prepared(_ state: inout State) throws(AIError) -> (tree: TokenVocabulary, spaced: [UInt64]?) {
        if let known = state.vocabulary { return known }
        let texts = Array(try tokenizer.texts().prefix(vocabulary))
        var spaced: [UInt64]?
        if tokenizer.dropsFirstSpace {
            var bits = [UInt64](repeating: 0, count: (texts.count + 63) / 64)
            for (id, text) in texts.enumerated() where text?.first == UInt8(ascii: " ") {
                bits[id >> 6] |= 1 << UInt64(id & 63)
            }
            spaced = bits
        }
        let made = (TokenVocabulary(texts: texts, special: tokenizer.markers), spaced)
        state.vocabulary = made
        return made
    }
}
