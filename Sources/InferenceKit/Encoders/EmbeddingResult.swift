package import HubCore

/// A text or a picture as a vector.
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

    /// Its length.
    public var dimensions: Int { vector.count }

    /// Its first numbers.
    ///
    /// - Parameter dimensions: how many; nil for all.
    /// - Throws: ``ErrorCode/invalidInput`` if it has fewer.
    package func shortened(to dimensions: Int?) throws(AIError) -> EmbeddingResult {
        guard let dimensions else { return self }
        guard (1...vector.count).contains(dimensions) else {
            throw AIError(
                .invalidInput, "vectors of \(dimensions) numbers are not possible: this model makes \(vector.count)"
            )
        }
        return EmbeddingResult(vector: Array(vector.prefix(dimensions)), tokenCount: tokenCount)
    }

    /// The same with length 1; one of zeros stays as it is.
    package var unit: EmbeddingResult {
        EmbeddingResult(vector: SentenceLayers.unit(vector), tokenCount: tokenCount)
    }

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
