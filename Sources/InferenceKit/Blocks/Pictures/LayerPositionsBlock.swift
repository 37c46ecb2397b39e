import CKernels
import HubCore

/// Learned positions that are added to a picture's rows between two layers (YOLOS, https://arxiv.org/abs/2106.00666).
struct LayerPositionsBlock: Sendable {
    private let description: ModelDescription.Pixels
    private let kind: ModelDescription.Positions
    private let width: Int
    /// `[layers - 1][positions][width]`
    private let numbers: FloatBuffer

    /// nil for a model without any.
    init?(_ d: ModelDescription.Pixels, _ table: TensorTable) throws(AIError) {
        guard let kind = d.positions, table.has(.layerPositions, nil) else { return nil }
        (description, self.kind, width) = (d, kind, table.width)
        numbers = try table.numbers(.layerPositions)
    }

    /// Adds those behind a layer to the rows of a step.
    ///
    /// - Parameter layer: its number, below that of the last.
    func apply(_ step: Step, behind layer: Int, _ w: Workspace) {
        let count = (kind.leading + description.rows * description.columns + kind.trailing) * width
        let own = SquareTable(
            UnsafeBufferPointer(start: numbers.start + layer * count, count: count), kind, width)
        var first = [Float](repeating: 0, count: description.firstCount * width)
        first.replaceSubrange(..<own.leading.count, with: own.leading)
        first.replaceSubrange((first.count - own.trailing.count)..., with: own.trailing)
        let leading = FloatBuffer(first)
        var tables: [[Int]: FloatBuffer] = [:]
        for (place, row) in step.rows.enumerated() {
            guard let picture = row.picture else { continue }
            let size = [picture.rows, picture.columns]
            let table: FloatBuffer
            if let made = tables[size] {
                table = made
            } else {
                table = FloatBuffer(
                    description.resized(
                        Array(own.squares), rows: picture.rows, columns: picture.columns, width: width))
                tables[size] = table
            }
            let square = row.position - picture.first
            let added = square < 0 ? leading.start + row.position * width : table.start + square * width
            hub_add(w.team.team, w.hidden.start + place * width, added, 1, width)
        }
    }
}
