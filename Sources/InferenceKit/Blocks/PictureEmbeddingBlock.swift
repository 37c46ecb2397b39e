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
            let split = positions.leading * width
            for (place, value) in all[..<split].enumerated() { rows[place] += value }
            self.positions = FloatBuffer(all[split...])
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
        let d = description
        guard let positions, let kind = d.positions, rows != d.rows || columns != d.columns else {
            return positions
        }
        let table = FloatGrid(height: d.rows, width: d.columns, channels: width, values: positions.array)
        let resized = table.resized(
            height: rows, width: columns, interpolation: kind.isLinear ? .bilinear : .bicubic,
            antialias: kind.hasAntialias)
        return FloatBuffer(resized.values)
    }

    /// What a picture's rows are made of.
    ///
    /// - Parameter patches: the numbers of each square: those of a colour, row by row, then those of the next.
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
