import CKernels
import HubCore

/// Numbers to rows, where a model reads series (https://github.com/amazon-science/chronos-forecasting, `ResidualBlock`).
struct PatchBlock: Sendable {
    private let activation: hub_activation
    private let hidden: Linear
    private let output: Linear
    private let residual: Linear

    init(_ d: ModelDescription.Patches, _ table: TensorTable) throws(AIError) {
        activation = d.activation.kernel
        hidden = try table.linear(.patchHidden)
        output = try table.linear(.patchOutput)
        residual = try table.linear(.patchResidual)
    }

    /// Fills the rows of a step that are made of patches; the others stay.
    ///
    /// - Parameter out: `[rows][width]`.
    func apply(_ step: Step, _ w: Workspace, into out: FloatBuffer) {
        let places = step.rows.indices.filter { step.rows[$0].input.patch != nil }
        guard !places.isEmpty else { return }
        let (rows, columns, width) = (places.count, hidden.columns, output.rows)
        let numbers = FloatBuffer(places.flatMap { step.rows[$0].input.patch ?? [] }[...])
        precondition(numbers.count == rows * columns)
        let (inner, made, added) = (
            FloatBuffer(rows * hidden.rows), FloatBuffer(rows * width), FloatBuffer(rows * width)
        )
        w.multiply(numbers, rows: rows, columns: columns, [(hidden, inner.start), (residual, added.start)])
        hub_activate(w.team.team, activation, inner.start, nil, hidden.rows, rows, hidden.rows, inner.start)
        w.multiply(inner, rows: rows, columns: hidden.rows, [(output, made.start)])
        hub_add(w.team.team, made.start, added.start, 1, rows * width)
        for (row, place) in places.enumerated() {
            (out.start + place * width).update(from: made.start + row * width, count: width)
        }
    }
}
