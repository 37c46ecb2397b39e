/// What two models share that have vectors of texts and of pictures in one space (CLIP, https://arxiv.org/abs/2103.00020;
/// SigLIP, https://arxiv.org/abs/2303.15343).
extension ModelDescription {
    /// The logit of a text and a picture is the cosine of their vectors, times the exponential of a stored number.
    struct Similarity: Sendable, Hashable {
        /// Whether another stored number is added, and each pair has a probability of its own; otherwise those of all
        /// texts for a picture add up to 1.
        var isOfPairs: Bool
    }

    /// The token whose row is the text's.
    enum Ending: Sendable, Hashable {
        /// The first of this id; with nil, the first of the largest.
        case token(Int?)
        /// The last of so many, after the text is filled with the tokenizer's padding, which is seen like other tokens.
        ///
        /// - Parameter usual: the id of padding where the tokenizer has none.
        case filled(to: Int, usual: Int)
    }

    /// A learned query attends to all rows; then a feed-forward block with a norm before it
    /// (https://arxiv.org/abs/1810.00825).
    struct AttentionPooling: Sendable, Hashable {
        var heads: Int
        /// Outputs of the feed-forward block's first matrix.
        var inner: Int
        var activation: Activation
        var norm: Norm
        /// Whether learned rows are among those that it attends to; otherwise those of squares alone.
        var seesFirst = false
    }

    /// The same, or one side of it.
    func side(_ side: ModelClass.Side) -> ModelDescription {
        guard let tower, side != .both else { return self }
        guard side == .texts else { return tower }
        var texts = self
        (texts.towers, texts.similarity) = ([], nil)
        return texts
    }

    /// The tensors of attention pooling.
    func poolingTensors(_ pooling: AttentionPooling) -> [TensorNeed] {
        var needs = [TensorNeed(role: .poolingProbe, shape: [1, 1, width])]
        func add(_ role: TensorRole, _ rows: Int, _ columns: Int) {
            needs.append(TensorNeed(role: role, shape: [rows, columns]))
            needs.append(TensorNeed(role: role, isBias: true, shape: [rows]))
        }
        for role in [TensorRole.poolingQuery, .poolingKey, .poolingValue, .poolingOutput] {
            add(role, width, width)
        }
        needs.append(TensorNeed(role: .poolingNorm, shape: [width]))
        needs.append(TensorNeed(role: .poolingNorm, isBias: true, shape: [width]))
        add(.poolingUp, pooling.inner, width)
        add(.poolingDown, width, pooling.inner)
        return needs
    }

    /// The tensors of the other side, and those that compare the two.
    var otherSideTensors: [TensorNeed] {
        var needs = (tower?.tensors ?? []).map {
            TensorNeed(role: .tower($0.role), layer: $0.layer, isBias: $0.isBias, shape: $0.shape)
        }
        if let similarity {
            let shape = similarity.isOfPairs ? [1] : []
            needs.append(TensorNeed(role: .logitScale, shape: shape))
            if similarity.isOfPairs { needs.append(TensorNeed(role: .logitBias, shape: shape)) }
        }
        return needs
    }
}

extension TensorNames {
    /// The same, or those of one side; the other's are not read.
    func side(_ side: ModelClass.Side) -> TensorNames {
        guard let tower = towers.first, side != .both else { return self }
        let other = side == .texts ? tower : self
        var names = side == .texts ? self : tower
        names.towers = []
        names.heads += [other.prefix] + other.outside.compactMap { other.stems[$0] }
        names.heads += [TensorRole.logitScale, .logitBias].compactMap { stems[$0] }
        return names
    }
}
