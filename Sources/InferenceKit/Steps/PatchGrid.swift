/// The squares of pixels that a picture is cut into, and the positions that are added to their rows.
final class PatchGrid: Sendable {
    let rows: Int
    let columns: Int
    /// `[rows * columns][width]`; nil for none.
    let positions: FloatBuffer?

    init(rows: Int, columns: Int, positions: FloatBuffer?) {
        (self.rows, self.columns, self.positions) = (rows, columns, positions)
    }

    var count: Int { rows * columns }
}
