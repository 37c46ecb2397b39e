extension ModelDescription {
    /// How a picture becomes rows: learned rows first, then one of each square of pixels, by a matrix, and positions are
    /// added (ViT, https://arxiv.org/abs/2010.11929).
    struct Pixels: Sendable, Hashable {
        /// Colours of a pixel.
        var channels: Int
        /// Pixels along a side of a square.
        var patch: Int
        /// Squares of a picture of the size that it was trained on, down and across.
        var rows: Int
        var columns: Int
        /// Whether the matrix of squares has a bias.
        var hasBias = true
        /// Whether that matrix is stored as one, and its inputs are rows of pixels, the colours of a pixel side by side;
        /// otherwise it is a convolution's kernel, in which a colour's pixels are together.
        var isMatrix = false
        /// Learned rows before those of squares, in their order.
        var first: [LearnedRows] = [.classToken]
        var positions: Positions?
        /// What the places of two squares add to the score of one's query and the other's key; nil for nothing.
        var distances: SquareDistances?

        /// Numbers that make a row.
        var count: Int { channels * patch * patch }
        var firstCount: Int { first.reduce(0) { $0 + $1.count } }
        /// The rows of a picture of the size that it was trained on.
        var rowCount: Int { firstCount + rows * columns }
    }

    /// Rows of a picture's sequence that are not of its pixels.
    enum LearnedRows: Sendable, Hashable {
        /// What the picture as a whole is read from.
        case classToken
        /// A second one, which learned from another model (https://arxiv.org/abs/2012.12877).
        case distillation
        /// Room for what is of no place (https://arxiv.org/abs/2309.16588).
        case registers(Int)
        /// Rows that look for an object each (https://arxiv.org/abs/2106.00666).
        case detections(Int)

        var count: Int {
            switch self {
            case .classToken, .distillation: 1
            case .registers(let count), .detections(let count): count
            }
        }

        var role: TensorRole {
            switch self {
            case .classToken: .classToken
            case .distillation: .distillationToken
            case .registers: .registers
            case .detections: .detectionTokens
            }
        }
    }

    /// A table of learned positions: of some of the first rows, then of squares, row by row. For a picture of another size
    /// those of squares are interpolated.
    struct Positions: Sendable, Hashable {
        /// How many of the first rows have one.
        var leading: Int
        /// How many rows stand in the table behind those of squares: they are of the last ones before the squares.
        var trailing = 0
        /// Whether between two layers others are added, of a table for each layer but the last.
        var areInLayers = false
        /// Whether a smaller grid is averaged over all that it covers.
        var hasAntialias = false
        /// Whether a number between others is made of two along a side, and not of four.
        var isBilinear = false
    }

    /// A table with a row for each distance of squares down and across, of a number for each head that is added to scaled
    /// scores; and three rows more, where one of the two or both are the first row (BEiT, https://arxiv.org/abs/2106.08254).
    /// For a picture of another size those of squares are interpolated.
    struct SquareDistances: Sendable, Hashable {
        /// Squares of a picture of the size that it was trained on, down and across.
        var rows: Int
        var columns: Int
        /// Whether all layers have one table.
        var isShared: Bool

        /// Rows of the table.
        var count: Int { (2 * rows - 1) * (2 * columns - 1) + 3 }

        /// The row of each query and each key, query by query, in the table of pictures of a size. transformers'
        /// `BeitRelativePositionBias`.
        func indices(first: Int, rows: Int, columns: Int) -> [UInt32] {
            let (count, width) = (first + rows * columns, 2 * columns - 1)
            let last = UInt32((2 * rows - 1) * width)
            var indices = [UInt32](repeating: 0, count: count * count)
            for query in 0..<count {
                for key in 0..<count {
                    let place = query * count + key
                    switch (query < first, key < first) {
                    case (true, true): indices[place] = last + 2
                    case (true, false): indices[place] = last
                    case (false, true): indices[place] = last + 1
                    case (false, false):
                        let (q, k) = (query - first, key - first)
                        let down = q / columns - k / columns + rows - 1
                        indices[place] = UInt32(down * width + q % columns - k % columns + columns - 1)
                    }
                }
            }
            return indices
        }
    }

    /// The tensors of a picture's embedding.
    func pictureTensors(_ pixels: Pixels) -> [TensorNeed] {
        let kernel =
            pixels.isMatrix ? [width, pixels.count] : [width, pixels.channels, pixels.patch, pixels.patch]
        var needs = [TensorNeed(role: .patchKernel, shape: kernel)]
        if pixels.hasBias { needs.append(TensorNeed(role: .patchKernel, isBias: true, shape: [width])) }
        needs += pixels.first.map { TensorNeed(role: $0.role, shape: [$0.count, width]) }
        if let norm = embedding.norm {
            needs.append(TensorNeed(role: .embeddingNorm, shape: [width]))
            if norm.hasBias { needs.append(TensorNeed(role: .embeddingNorm, isBias: true, shape: [width])) }
        }
        if let positions = pixels.positions {
            let count = positions.leading + pixels.rows * pixels.columns + positions.trailing
            needs.append(TensorNeed(role: .positions, shape: [count, width]))
            if positions.areInLayers, layers.count > 1 {
                needs.append(TensorNeed(role: .layerPositions, shape: [layers.count - 1, 1, count, width]))
            }
        }
        if let distances = pixels.distances, distances.isShared, let heads = layers.first?.attention?.heads {
            needs.append(TensorNeed(role: .distances, shape: [distances.count, heads]))
        }
        return needs
    }
}

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
