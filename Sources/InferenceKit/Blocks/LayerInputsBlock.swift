import CKernels
import HubCore

/// The rows that tokens have for each layer: from a table, and from their embedding by a matrix and a norm. The sum of
/// both is scaled so that its size stays.
struct LayerInputsBlock: Sendable {
    private let width: Int
    private let table: WeightMatrix
    /// A part for each layer.
    private let projections: [Linear]
    private let norm: NormBlock
    /// Factors of the projection and of the table's rows.
    private let factors: (projection: Float, table: Float)

    init(_ d: ModelDescription.LayerInputs, _ model: ModelDescription, _ table: TensorTable) throws(AIError) {
        width = d.width
        self.table = try table.matrix(.layerTable)
        let projection = try table.matrix(.layerProjection)
        projections = try projection.parts(model.layers.count).map { Linear(matrix: $0, bias: nil) }
        norm = try NormBlock(d.norm, .layerProjectionNorm, nil, table)
        factors = (1 / Float(model.width).squareRoot(), Float(d.width).squareRoot())
    }

    /// Fills the workspace's inputs of layers, `[layers][rows][width]`.
    ///
    /// - Parameter embedded: the rows of the residual stream before the first layer.
    func apply(_ step: Step, _ embedded: FloatBuffer, _ w: Workspace) {
        let (inputs, rows) = (w.layerInputs.start, step.count)
        let places = projections.indices.map { inputs + $0 * rows * width }
        w.multiply(embedded, rows: rows, columns: projections[0].columns, Array(zip(projections, places)))
        let count = projections.count * rows
        hub_scale(w.team.team, inputs, factors.projection, count * width)
        norm.apply(inputs, rows: count, w.team, into: inputs)
        for (index, row) in step.rows.enumerated() {
            let own = w.layerRow.start
            // What is no token of the text has the row of the first, which pads.
            let id = row.input.token.flatMap { $0 < table.rows ? $0 : nil } ?? 0
            table.widen(row: id, into: own)
            for (layer, place) in places.enumerated() {
                hub_add(w.team.team, place + index * width, own + layer * width, factors.table, width)
            }
        }
        hub_scale(w.team.team, inputs, Float(0.5).squareRoot(), count * width)
    }
}

/// What a layer adds after its halves: its rows through a gate, times the tokens' rows for this layer, made wide again.
struct LayerInputBlock: Sendable {
    private let activation: hub_activation
    private let gate: Linear
    private let output: Linear
    private let norm: NormBlock

    init(_ d: ModelDescription.LayerInputs, _ layer: Int, _ table: TensorTable) throws(AIError) {
        activation = d.activation.kernel
        gate = try table.linear(.layerGate, layer)
        output = try table.linear(.layerOutput, layer)
        norm = try NormBlock(d.norm, .layerNorm, layer, table)
    }

    /// Takes the rows of the residual stream.
    ///
    /// - Parameters:
    ///   - layer: its number in the model.
    ///   - targets: `[rows][width]`, to which the result is added.
    func apply(rows: Int, layer: Int, _ w: Workspace, addingTo targets: [UnsafeMutablePointer<Float>]) {
        let inner = gate.rows
        w.multiply(w.hidden, rows: rows, columns: gate.columns, [(gate, w.gate.start)])
        let inputs = w.layerInputs.start + layer * rows * inner
        hub_activate(w.team.team, activation, w.gate.start, inputs, inner, rows, inner, w.gate.start)
        w.multiply(w.gate, rows: rows, columns: inner, [(output, w.branch.start)])
        norm.apply(w.branch.start, rows: rows, w.team, into: w.branch.start)
        for target in targets { hub_add(w.team.team, target, w.branch.start, 1, rows * output.rows) }
    }
}
