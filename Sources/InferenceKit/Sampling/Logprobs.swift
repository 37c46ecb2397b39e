import CKernels

/// A token and its log probability before penalties and temperature.
public struct TokenLogprob: Sendable, Hashable {
    /// The token's id; nil where a provider does not tell it.
    public let tokenId: Int?
    /// The token's text; U+FFFD if it is not a whole character.
    public let text: String
    /// The natural logarithm of its probability.
    public let logprob: Double

    /// A token.
    public init(tokenId: Int?, text: String, logprob: Double) {
        self.tokenId = tokenId
        self.text = text
        self.logprob = logprob
    }
}

/// Log probabilities of one position.
struct Logprobs {
    private let logits: UnsafeBufferPointer<Float>
    private let normalizer: Double

    init(_ logits: UnsafeBufferPointer<Float>) {
        self.logits = logits
        normalizer = hub_log_sum_exp(logits.baseAddress, logits.count)
    }

    subscript(id: Int) -> Double { Double(logits[id]) - normalizer }

    /// The likeliest tokens, in order.
    func top(_ count: Int) -> [Int] {
        var kept: [Int] = []
        for id in logits.indices {
            if kept.count == count, count == 0 || logits[id] <= logits[kept[count - 1]] { continue }
            let at = kept.firstIndex { logits[$0] < logits[id] } ?? kept.count
            kept.insert(id, at: at)
            if kept.count > count { kept.removeLast() }
        }
        return kept
    }
}
