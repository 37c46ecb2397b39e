import HubCore
import HubGrammar
import HubTokenizers

/// Holds one text to a constraint. Used on the scheduler's thread, as are all that share its engine.
final class GrammarMask: TokenMask, @unchecked Sendable {
    private var engine: MaskEngine
    private let tokenizer: Tokenizer
    /// Tokens that begin with a space, if the first token of a text loses it: what is shown would not be what was checked.
    private let spaced: [UInt64]?
    private var state: MaskEngine.State
    /// The tokens so far.
    private var ids: [Int] = []
    private var isFirst: Bool { ids.isEmpty }

    init(_ engine: MaskEngine, _ tokenizer: Tokenizer, spaced: [UInt64]?) {
        (self.engine, self.tokenizer, self.spaced) = (engine, tokenizer, spaced)
        state = engine.start
    }

    func ban(in logits: UnsafeMutableBufferPointer<Float>) throws(AIError) {
        if engine.isLarge {
            engine = try engine.renewed()
            state = ids.reduce(engine.start) { engine.next($0, $1) ?? $0 }
        }
        let mask = engine.mask(state)
        if let failure = engine.failure { throw failure }
        for (place, word) in mask.enumerated() {
            let word = isFirst ? word & ~(spaced?[place] ?? 0) : word
            if word == .max { continue }
            let first = place * 64
            for id in first..<min(first + 64, logits.count) where word >> UInt64(id - first) & 1 == 0 {
                logits[id] = -.infinity
            }
        }
        for id in (mask.count * 64)..<max(mask.count * 64, logits.count) { logits[id] = -.infinity }
    }

    func accept(_ id: Int) {
        ids.append(id)
        // Only what the mask allows is chosen.
        state = engine.next(state, id) ?? state
    }

    /// Whether the text is complete and nothing can follow.
    var isFinished: Bool { engine.isFinished(state) }

    /// How many of some guessed tokens are allowed in a row.
    func allowed(_ guesses: [Int]) -> Int {
        var state = state
        for (place, id) in guesses.enumerated() {
            guard let next = engine.next(state, id) else { return place }
            state = next
        }
        return guesses.count
    }

    /// The tokens of text that must come next, as the tokenizer divides it. What it ends with may be a part of a longer
    /// token, so unless the text ends there the model chooses the last one.
    func forced() -> [Int] {
        let (bytes, isAll) = engine.forced(state)
        guard bytes.count > 1 || isAll, !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self),
            let ids = try? tokenizer.encode(text, addSpecialTokens: false), let first = ids.first
        else { return [] }
        if isFirst, let spaced, spaced[first >> 6] >> UInt64(first & 63) & 1 == 1 { return [] }
        // A tokenizer may put a space before a text, or change it.
        guard engine.text(of: ids) == bytes else { return [] }
        return isAll ? ids : ids.dropLast()
    }
}
