extension ModelDescription {
    /// Several residual streams, of which layers change one and predict the others (Alternating Updates,
    /// https://arxiv.org/abs/2301.13310, as in transformers' `Gemma3nTextAltUp`).
    ///
    /// Before the first layer each of the others is a matrix times the embedding, as long as that; after the last one,
    /// each is multiplied by another matrix, made as long as the first, and the mean of all goes on.
    struct Streams: Sendable, Hashable {
        /// How many; the first is the one that layers change.
        var count: Int
        /// Of the rows that the mixing depends on.
        var norm: Norm
        /// Whether a vector multiplies the corrected rows that go through the gate of ``LayerInputs``.
        var scalesCorrection = true

        /// More than any model has.
        static let most = 8
    }
}

extension ModelDescription.Streams {
    /// The tensors outside of the layers, or those of a layer.
    func tensors(layer: Int?, _ width: Int) -> [TensorNeed] {
        func need(_ role: TensorRole, _ shape: Int...) -> TensorNeed {
            TensorNeed(role: role, layer: layer, shape: shape)
        }
        guard layer != nil else {
            return (1..<count).flatMap {
                [need(.streamInput($0), width, width), need(.streamOutput($0), width, width)]
            }
        }
        return [
            need(.streamRouter, count, width), need(.streamRouterNorm, width),
            need(.streamPrediction, count * count, count), need(.streamCorrection, count, count),
            need(.streamScale, width),
        ]
    }
}
