/// A text as a vector.
public struct EmbeddingResult: Sendable, Hashable {
    /// The numbers.
    public let vector: [Float]
    /// Tokens of the text that were read, special ones included; 0 if unknown.
    public let tokenCount: Int

    /// A vector.
    public init(vector: [Float], tokenCount: Int = 0) {
        self.vector = vector
        self.tokenCount = tokenCount
    }

    /// The number of its numbers.
    public var dimensions: Int { vector.count }

    /// The cosine of the angle to another vector, -1 to 1; 0 if one of them is zero. Vectors of different lengths have
    /// none: nil.
    public func cosineSimilarity(to other: EmbeddingResult) -> Double? {
        guard dimensions == other.dimensions else { return nil }
        var (dot, left, right) = (0.0, 0.0, 0.0)
        for (a, b) in zip(vector, other.vector) {
            dot += Double(a) * Double(b)
            left += Double(a) * Double(a)
            right += Double(b) * Double(b)
        }
        return left > 0 && right > 0 ? dot / (left * right).squareRoot() : 0
    }
}
