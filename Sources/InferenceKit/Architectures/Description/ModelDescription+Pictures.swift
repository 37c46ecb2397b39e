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
        return needs
    }
}
