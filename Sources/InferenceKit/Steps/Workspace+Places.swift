import CKernels

/// What layers add to the rows that queries and keys are made of.
extension Workspace {
    /// Fills it for the rows of a step.
    ///
    /// - Parameter width: of a row.
    func fillPlaces(_ placing: ModelDescription.Placing, _ step: Step, width: Int) {
        switch placing {
        case .tokens:
            places.start.update(from: hidden.start, count: step.count * width)
            hidden.start.update(repeating: 0, count: step.count * width)
        case .squares:
            for (index, row) in step.rows.enumerated() {
                guard let picture = row.picture, let sines = picture.sines else {
                    preconditionFailure("a row has no place")
                }
                let square = row.position - picture.first
                (places.start + index * width).update(from: sines.start + square * width, count: width)
            }
        }
    }

    /// Rows with their places added; valid until the next call.
    ///
    /// - Parameter x: of all rows of the step, `[rows][width]`.
    func place(_ x: FloatBuffer, rows: Int) -> FloatBuffer {
        let count = rows * size.row.width
        placed.start.update(from: x.start, count: count)
        hub_add(team.team, placed.start, places.start, 1, count)
        return placed
    }
}
