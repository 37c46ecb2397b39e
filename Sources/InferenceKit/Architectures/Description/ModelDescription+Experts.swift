extension ModelDescription {
    /// A mixture of experts (https://arxiv.org/abs/1701.06538): for each row a router chooses some of many feed-forward
    /// blocks, and their results are added, each times its weight.
    struct Experts: Sendable, Hashable {
        var count: Int
        /// How many of them a row goes through.
        var used: Int
        /// The inner width of one.
        var width: Int
        var activation: Activation
        /// `down(activation(gate(x)) * up(x))`; otherwise `down(activation(up(x)))`.
        var isGated = true
        var hasBias = false
        var routing = Routing()
        /// What every row goes through; nil for none.
        var shared: Shared?
        /// Whether it stands beside the layer's feed-forward block, both with norms of their own
        /// (transformers' `Gemma4TextDecoderLayer`); otherwise it is in place of it.
        var isBeside = false

        /// One more block, whose result is added.
        struct Shared: Sendable, Hashable {
            var width: Int
            /// Whether its result is multiplied by the sigmoid of a row's product with a vector.
            var hasGate = false
        }
    }

    /// How a row's experts are chosen, and what their results are multiplied by.
    struct Routing: Sendable, Hashable {
        enum Scores: Sendable, Hashable {
            /// Softmax over all experts, before the choice.
            case softmax
            /// Softmax over those that were chosen.
            case softmaxOfChosen
            case sigmoid
            /// The best of all, then the best of the others: the weight of each is its share in the softmax over what it was
            /// chosen from, but for scores that are below it by more than this share of the larger of both sizes
            /// (https://arxiv.org/abs/2310.00811).
            case oneByOne(margin: Float)
        }
        /// Experts side by side are groups; only those of the best groups are chosen (https://arxiv.org/abs/2405.04434).
        struct Groups: Sendable, Hashable {
            var count: Int
            /// How many of them take part.
            var used: Int
            /// How many of a group's best scores are added to be the group's.
            var counted: Int
        }

        var scores = Scores.softmax
        /// Whether the router's matrix has a bias.
        var hasBias = false
        /// Epsilon of an RMS norm of the rows that the router takes, which come from before the experts' norm. Its weight is
        /// a vector over the root of the width. nil for the rows that experts take.
        var norm: Float?
        /// Whether each expert has a factor of its weights.
        var hasFactors = false
        /// Whether a bias is added to the scores for the choice alone (https://arxiv.org/abs/2408.15664).
        var hasChoiceBias = false
        /// nil where all experts are one group.
        var groups: Groups?
        /// Whether the weights of a row's experts are divided by their sum.
        var renormalizes = false
        /// Added to that sum.
        var leastSum = 1e-20
        /// Factor of the weights.
        var factor: Float = 1
    }
}

extension ModelDescription.Experts {
    /// More than any model has.
    private static let (most, mostWidth) = (4096, 1 << 24)

    /// What is wrong with the numbers; nil if nothing is.
    var fault: String? {
        if count > Self.most { return "\(count) experts are more than \(Self.most)" }
        if used > count { return "a row goes through \(used) experts of \(count)" }
        for width in [width, shared?.width ?? 0] where width > Self.mostWidth {
            return "experts have a width of \(width), more than \(Self.mostWidth)"
        }
        guard let groups = routing.groups else { return nil }
        guard count % groups.count == 0, groups.used <= groups.count else {
            return "\(groups.used) of \(groups.count) groups of \(count) experts cannot be chosen"
        }
        guard used <= groups.used * (count / groups.count), groups.counted <= count / groups.count else {
            return "\(groups.used) groups of \(count / groups.count) experts are too few for \(used)"
        }
        return nil
    }
}

extension ModelDescription.Experts {
    /// The tensors of a layer's mixture.
    ///
    /// - Parameter outer: the width of the rows.
    func tensors(_ outer: Int) -> [(role: TensorRole, isBias: Bool, shape: [Int])] {
        var needs: [(TensorRole, Bool, [Int])] = [(.router, false, [count, outer])]
        if routing.hasBias { needs.append((.router, true, [count])) }
        if routing.norm != nil { needs.append((.routerNorm, false, [outer])) }
        if routing.hasFactors { needs.append((.expertFactors, false, [count])) }
        if routing.hasChoiceBias { needs.append((.choiceBias, true, [count])) }
        for (role, shape) in [
            (TensorRole.expertGate, [count, width, outer]), (.expertUp, [count, width, outer]),
            (.expertDown, [count, outer, width]),
        ] where isGated || role != .expertGate {
            needs.append((role, false, shape))
            if hasBias { needs.append((role, true, [shape[0], shape[1]])) }
        }
        if let shared {
            if isGated { needs.append((.sharedGate, false, [shared.width, outer])) }
            needs += [(.sharedUp, false, [shared.width, outer]), (.sharedDown, false, [outer, shared.width])]
            if shared.hasGate { needs.append((.sharedScore, false, [1, outer])) }
        }
        return needs
    }
}
