import CKernels
import HubCore

/// What stands beside attention in Gemma 3n: a matrix of low rank and a norm, added to the normalised rows (LAuReL,
/// https://arxiv.org/abs/2411.07501, transformers' `Gemma3nTextLaurelBlock`).
struct DetourBlock: Sendable {
    private let left: Linear
    private let right: Linear
    private let norm: NormBlock

    init(_ norm: ModelDescription.Norm, _ layer: Int, _ table: TensorTable) throws(AIError) {
        left = try table.linear(.detourLeft, layer)
        right = try table.linear(.detourRight, layer)
        self.norm = try NormBlock(norm, .detourNorm, layer, table)
    }

    /// Adds its result to rows to which attention has been added, and makes the sum as long as one of the two.
    ///
    /// - Parameter x: `[rows][width]`, what attention took.
    func apply(_ x: FloatBuffer, _ stream: FloatBuffer, rows: Int, _ w: Workspace) {
        w.multiply(x, rows: rows, columns: left.columns, [(left, w.gate.start)])
        w.multiply(w.gate, rows: rows, columns: right.columns, [(right, w.branch.start)])
        norm.apply(w.branch.start, rows: rows, w.team, into: w.branch.start)
        let count = rows * left.columns
        hub_add(w.team.team, w.branch.start, x.start, 1, count)
        hub_add(w.team.team, stream.start, w.branch.start, 1, count)
        hub_scale(w.team.team, stream.start, Float(0.5).squareRoot(), count)
    }
}
