/// A text of a ranking.
public struct RankedText: Sendable, Hashable {
    /// Its place in the list that was ranked.
    public let index: Int
    /// The text.
    public let text: String
    /// How well it answers the query: 0 to 1 by a reranker, unless its configuration wants the logit itself; the cosine
    /// by an embedding model; the sum of the cosines of the query's tokens by one with a vector of each.
    public let score: Double
    /// The reranker's output, or that sum; nil for a cosine.
    public let logit: Double?

    /// A text of a ranking.
    public init(index: Int, text: String, score: Double, logit: Double? = nil) {
        (self.index, self.text, self.score, self.logit) = (index, text, score, logit)
    }
}

extension [RankedText] {
    /// Best first; of equal ones the first of the list.
    func ranked() -> [RankedText] {
        sorted { ($1.logit ?? $1.score, $0.index) < ($0.logit ?? $0.score, $1.index) }
    }
}
