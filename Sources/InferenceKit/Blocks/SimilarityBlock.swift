import HubCore
import Libc

/// How vectors of a text and of a picture are compared.
struct SimilarityBlock: Sendable {
    /// What cosines are multiplied with,
    private let factor: Double
    /// and what is added then.
    private let bias: Double
    /// Whether each pair has a probability of its own.
    let isOfPairs: Bool

    init(_ d: ModelDescription.Similarity, _ table: TensorTable) throws(AIError) {
        isOfPairs = d.isOfPairs
        factor = exp(Double(try table.numbers(.logitScale).array[0]))
        bias = d.isOfPairs ? Double(try table.numbers(.logitBias).array[0]) : 0
    }

    func logit(_ cosine: Double) -> Double { cosine * factor + bias }
}
