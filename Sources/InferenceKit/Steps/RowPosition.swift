/// Where a row stands for rotary embeddings: in a text all three are its position; rows of a picture have its column and
/// row in the grid, those of a video the time, too (M-RoPE, https://arxiv.org/abs/2409.12191).
struct RowPosition: Sendable, Hashable {
    var time: Float
    var row: Float
    var column: Float

    init(time: Float, row: Float, column: Float) { (self.time, self.row, self.column) = (time, row, column) }

    subscript(_ axis: ModelDescription.Rotary.Axis) -> Float {
        switch axis {
        case .time: time
        case .row: row
        case .column: column
        }
    }
}
