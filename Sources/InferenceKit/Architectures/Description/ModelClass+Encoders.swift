import HubCore

/// The heads of encoders. The stems are those of the head's tensors.
extension ModelClass {
    /// Words behind masks: a layer with a norm, then the table of tokens and a bias.
    ///
    /// - Parameters:
    ///   - bias: of the outputs, where it is not beside their weights.
    ///   - activation: nil for that of the layers.
    static func masked(
        _ name: String, dense: String, norm: String, head: String, bias: String? = nil,
        activation: ModelDescription.Activation? = nil
    ) -> ModelClass {
        ModelClass(
            name, .fillMask, [.headDense: dense, .headNorm: norm, .head: head],
            biases: bias.map { [.head: $0] } ?? [:]
        ) { settings, d throws(AIError) in
            let activation = activation ?? d.layers.first?.feedForward?.activation
            return Head(
                dense: .init(
                    width: d.embedding.width ?? d.width, activation: activation,
                    norm: d.embedding.norm ?? d.finalNorm),
                // A table of its own is used, whatever the configuration says.
                isTied: settings.isTied(default: true) && settings.stores(head + ".weight") != true, hasBias: true)
        }
    }

    /// Labels of a text by its first row, which goes through a layer first.
    ///
    /// - Parameter pooler: a layer of the model itself; otherwise it is `dense` of the head.
    static func labels(
        _ name: String, pooler: String? = nil, dense: String? = nil,
        activation: ModelDescription.Activation = .tanh,
        head: String = "classifier"
    ) -> ModelClass {
        var outside: [TensorRole: String] = [.head: head]
        outside[.headDense] = dense
        return ModelClass(
            name, .classification, outside, inside: pooler.map { [.headDense: $0] } ?? [:]
        ) { settings, d throws(AIError) in
            Head(
                rows: .first, dense: .init(width: d.width, activation: activation), hasBias: true,
                outputs: .labels(try settings.labels()))
        }
    }

    /// A vector of each token, by a matrix that is read with sentence-transformers' modules.
    static let lateInteraction = ModelClass("HF_ColBERT", .ranking, [.headDense: "linear"]) {
        settings, d throws(AIError) in nil
    }

    /// Labels of each token.
    static func tokenLabels(_ name: String, head: String = "classifier") -> ModelClass {
        ModelClass(name, .tokenClassification, [.head: head]) { settings, d throws(AIError) in
            Head(hasBias: true, outputs: .labels(try settings.labels()))
        }
    }
}
