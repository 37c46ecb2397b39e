import CKernels
import HubCore

/// A feed-forward block and a mixture of experts beside each other. Each has a norm after it, and the experts one of their
/// own before; then both are added.
struct DenseAndExpertsBlock: Sendable {
    private let dense: FeedForwardBlock
    private let experts: ExpertsBlock
    private let norms: (afterDense: NormBlock, before: NormBlock, after: NormBlock)

    init(
        _ dense: FeedForwardBlock, _ experts: ModelDescription.Experts, _ norm: ModelDescription.Norm, _ layer: Int,
        _ table: TensorTable
    ) throws(AIError) {
        self.dense = dense
        self.experts = try ExpertsBlock(experts, layer, table)
        norms = (
            try NormBlock(norm, .denseNorm, layer, table), try NormBlock(norm, .expertsNorm, layer, table),
            try NormBlock(norm, .expertsPostNorm, layer, table)
        )
    }

    /// - Parameters:
    ///   - x: `[rows][width]`, normalised for the feed-forward block.
    ///   - stream: the same before that.
    ///   - out: `[rows][width]`.
    func apply(_ x: FloatBuffer, of stream: FloatBuffer, rows: Int, _ w: Workspace, into out: FloatBuffer) {
        guard let beside = w.experts?.beside else { preconditionFailure("the workspace is another model's") }
        dense.apply(x, rows: rows, w, into: out)
        norms.afterDense.apply(out.start, rows: rows, w.team, into: out.start)
        norms.before.apply(stream.start, rows: rows, w.team, into: x.start)
        experts.apply(x, of: stream, rows: rows, w, into: beside)
        norms.after.apply(beside.start, rows: rows, w.team, into: beside.start)
        hub_add(w.team.team, out.start, beside.start, 1, beside.count / w.rows * rows)
    }
}
