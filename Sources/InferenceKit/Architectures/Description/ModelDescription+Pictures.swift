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

        var count: Int { if case .registers(let count) = self { count } else { 1 } }

        var role: TensorRole {
            switch self {
            case .classToken: .classToken
            case .distillation: .distillationToken
            case .registers: .registers
            }
        }
    }

    /// A table of learned positions: of some of the first rows, then of squares, row by row. For a picture of another size
    /// those of squares are interpolated.
    struct Positions: Sendable, Hashable {
        /// How many of the first rows have one.
        var leading: Int
        /// Whether a smaller grid is averaged over all that it covers.
        var hasAntialias = false
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
        let kernel = [width, pixels.channels, pixels.patch, pixels.patch]
        var needs = [TensorNeed(role: .patchKernel, shape: kernel)]
        if pixels.hasBias { needs.append(TensorNeed(role: .patchKernel, isBias: true, shape: [width])) }
        needs += pixels.first.map { TensorNeed(role: $0.role, shape: [$0.count, width]) }
        if let norm = embedding.norm {
            needs.append(TensorNeed(role: .embeddingNorm, shape: [width]))
            if norm.hasBias { needs.append(TensorNeed(role: .embeddingNorm, isBias: true, shape: [width])) }
        }
        if let positions = pixels.positions {
            needs.append(
                TensorNeed(role: .positions, shape: [positions.leading + pixels.rows * pixels.columns, width]))
        }
        if let distances = pixels.distances, distances.isShared, let heads = layers.first?.attention?.heads {
            needs.append(TensorNeed(role: .distances, shape: [distances.count, heads]))
        }
        return needs
    }
}
