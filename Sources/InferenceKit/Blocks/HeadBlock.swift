import CKernels
import HubCore

/// Rows to logits.
struct HeadBlock: Sendable {
    private let description: ModelDescription.Head
    private let linear: Linear

    /// - Parameter embedding: the table of tokens, which a tied head is.
    init(_ d: ModelDescription.Head, embedding: WeightMatrix, _ table: TensorTable) throws(AIError) {
        description = d
        linear = d.isTied ? Linear(matrix: embedding, bias: nil) : try table.linear(.head)
    }

    /// Computes the logits of normalised rows, `[rows][width]`, at most ``Workspace/logitRows`` of them.
    func apply(_ x: FloatBuffer, rows: Int, _ w: Workspace) {
        let count = rows * linear.matrix.rows
        w.multiply(x, rows: rows, columns: linear.matrix.columns, [(linear, w.logitsStart)])
        if description.scale != 1 { hub_scale(w.team.team, w.logitsStart, description.scale, count) }
        if description.cap != 0 { hub_soft_cap(w.team.team, w.logitsStart, description.cap, count) }
    }
}
