import CKernels
import HubCore

/// What makes rows narrow for a layer's halves, and wide again.
struct BottleneckBlock: Sendable {
    /// A matrix and the norm after it.
    private typealias Narrowing = (linear: Linear, norm: NormBlock)

    private let description: ModelDescription.Bottleneck
    private let input: Narrowing
    /// nil where queries and keys are made of the same rows.
    private let query: Narrowing?
    private let output: Narrowing

    init(
        _ d: ModelDescription.Bottleneck, norm: ModelDescription.Norm, _ layer: Int, _ table: TensorTable
    ) throws(AIError) {
        func narrowing(_ role: TensorRole, _ normRole: TensorRole) throws(AIError) -> Narrowing {
            (try table.linear(role, layer), try NormBlock(norm, normRole, layer, table))
        }
        description = d
        input = try narrowing(.bottleneckInput, .bottleneckInputNorm)
        query = d.hasQueries ? try narrowing(.bottleneckQuery, .bottleneckQueryNorm) : nil
        output = try narrowing(.bottleneckOutput, .bottleneckOutputNorm)
    }

    var width: Int { description.width }

    /// Makes the narrow rows.
    func enter(rows: Int, _ w: Workspace) {
        let products = [(input, w.narrow)] + (query.map { [($0, w.asked)] } ?? [])
        w.multiply(
            w.hidden, rows: rows, columns: input.linear.columns, products.map { ($0.linear, $1.start) })
        for (narrowing, out) in products { narrowing.norm.apply(out.start, rows: rows, w.team, into: out.start) }
    }

    /// What queries and keys are made of.
    func asked(_ w: Workspace) -> FloatBuffer { query == nil ? w.narrow : w.asked }

    /// What values are made of, if that is something else.
    func valued(_ w: Workspace) -> FloatBuffer? { query == nil ? nil : w.hidden }

    /// Adds the narrow rows to the wide ones.
    func leave(rows: Int, _ w: Workspace) {
        w.multiply(w.narrow, rows: rows, columns: width, [(output.linear, w.branch.start)])
        hub_add(w.team.team, w.hidden.start, w.branch.start, 1, rows * output.linear.rows)
        output.norm.apply(w.hidden.start, rows: rows, w.team, into: w.hidden.start)
    }
}
