/// Where the squares of a picture are, and what that changes of its rows.
struct PicturePlaces: Sendable {
    /// Rows before those of squares.
    let first: Int
    /// Squares down and across.
    let rows: Int
    let columns: Int
    /// Of squares, `[squares][width]`, which are added to their rows; nil for none.
    let positions: FloatBuffer?
    /// How far the pairs of a square's queries and keys turn, in radians, `[squares][pairs]`; nil where they do not.
    let angles: FloatBuffer?
    /// The row of a table for each query and key, `[first + squares][first + squares]`; empty where there is no table.
    let distances: [UInt32]
    /// What layers add to the rows that queries and keys of squares are made of, `[squares][width]`; nil for nothing.
    var sines: FloatBuffer?

    /// The picture's rows.
    var count: Int { first + rows * columns }
}
