import CKernels
import HubCore
import HubMedia

/// Pictures to rows: learned rows, and those of squares of pixels, with positions and a norm where a model has them.
struct PictureEmbeddingBlock: Sendable {
    private let description: ModelDescription.Pixels
    private let width: Int
    /// `[first rows][width]`, positions included.
    private let first: FloatBuffer
    private let projection: Linear
    /// Of squares, `[rows * columns][width]`; nil for none.
    private let positions: FloatBuffer?
    private let norm: NormBlock?

    init(_ d: ModelDescription.Pixels, norm: ModelDescription.Norm?, _ table: TensorTable) throws(AIError) {
        (description, width) = (d, table.width)
        var rows: [Float] = []
        for learned in d.first { rows += try table.numbers(learned.role).array }
        if let positions = d.positions {
            let all = try table.numbers(.positions).array
            let parts = SquareTable(all, positions, width)
            for (place, value) in parts.leading.enumerated() { rows[place] += value }
            let behind = rows.count - parts.trailing.count
            for (place, value) in parts.trailing.enumerated() { rows[behind + place] += value }
            self.positions = FloatBuffer(parts.squares)
        } else {
            positions = nil
        }
        first = FloatBuffer(rows)
        projection = Linear(matrix: try table.kernel(.patchKernel), bias: try table.bias(.patchKernel))
        self.norm = if let norm { try NormBlock(norm, .embeddingNorm, nil, table) } else { nil }
    }

    /// The positions of a picture's squares, `[rows * columns][width]`: those of the table where it has its size, else
    /// interpolated ones; nil for none.
    ///
    /// - Parameters:
    ///   - rows: squares from top to bottom,
    ///   - columns: and from left to right.
    func positions(rows: Int, columns: Int) -> FloatBuffer? {
        guard let positions, rows != description.rows || columns != description.columns else { return positions }
        return FloatBuffer(description.resized(positions.array, rows: rows, columns: columns, width: width))
    }

    /// What a picture's rows are made of.
    ///
    /// - Parameter patches: the numbers of each square, in the order of the matrix.
    func inputs(_ patches: [[Float]]) -> [RowInput] {
        (0..<description.firstCount).map { .token($0) } + patches.map { .patch($0) }
    }

    /// Fills the rows of the residual stream.
    func apply(_ step: Step, _ w: Workspace) {
        let places = step.rows.indices.filter { step.rows[$0].input.patch != nil }
        let numbers = FloatBuffer(places.count * description.count)
        for (row, place) in places.enumerated() {
            guard let patch = step.rows[place].input.patch else { continue }
            precondition(patch.count == description.count)
            _ = UnsafeMutableBufferPointer(start: numbers.start + row * patch.count, count: patch.count)
                .update(fromContentsOf: patch)
        }
        if !places.isEmpty {
            w.multiply(
                numbers, rows: places.count, columns: description.count, [(projection, w.branch.start)])
        }
        for (row, place) in places.enumerated() {
            (w.hidden.start + place * width).update(from: w.branch.start + row * width, count: width)
        }
        for (place, row) in step.rows.enumerated() {
            let out = w.hidden.start + place * width
            if let id = row.input.token {
                out.update(from: first.start + id * width, count: width)
            } else if let picture = row.picture, let positions = picture.positions {
                let square = row.position - picture.first
                hub_add(w.team.team, out, positions.start + square * width, 1, width)
            }
        }
        norm?.apply(w.hidden.start, rows: step.count, w.team, into: w.hidden.start)
    }
}

/// A table of positions: those of the first rows, of squares, and what stands behind them.
struct SquareTable {
    let leading: ArraySlice<Float>
    let squares: ArraySlice<Float>
    let trailing: ArraySlice<Float>

    init(_ all: some RandomAccessCollection<Float>, _ d: ModelDescription.Positions, _ width: Int) {
        let all = Array(all)
        let (split, end) = (d.leading * width, all.count - d.trailing * width)
        (leading, squares, trailing) = (all[..<split], all[split..<end], all[end...])
    }
}

extension ModelDescription.Pixels {
    /// Positions of squares for a picture of another size than that of training, `[rows * columns][width]`.
    func resized(_ squares: [Float], rows: Int, columns: Int, width: Int) -> [Float] {
        if rows == self.rows, columns == self.columns { return squares }
        let table = FloatGrid(height: self.rows, width: self.columns, channels: width, values: squares)
        return table.resized(
            height: rows, width: columns, interpolation: positions?.isBilinear == true ? .bilinear : .bicubic,
            antialias: positions?.hasAntialias ?? false
        ).values
    }
}
