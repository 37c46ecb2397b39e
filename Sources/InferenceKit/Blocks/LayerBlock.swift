import CKernels
import HubCore

/// A layer: attention and feed-forward block, those that it has, with the norms around them.
struct LayerBlock: Sendable {
    private let attention: (block: AttentionBlock, norms: Norms)?
    private let feedForward: (block: FeedForwardBlock, norms: Norms)?
    private let placement: ModelDescription.Norms

    /// The norms around a block.
    private struct Norms {
        let before: NormBlock?
        let after: NormBlock?
    }

    init(
        _ d: ModelDescription.Layer, isCausal: Bool, rotary: (RotaryBlock, Int)?, distances: DistanceBlock?,
        _ layer: Int, _ table: TensorTable
    ) throws(AIError) {
        placement = d.norms
        func norm(_ role: TensorRole) throws(AIError) -> NormBlock? {
            table.has(role, layer) ? try NormBlock(d.norm, role, layer, table) : nil
        }
        if let described = d.attention {
            attention = (
                try AttentionBlock(
                    described, isCausal: isCausal, rotary: rotary, distances: distances, layer, table),
                Norms(before: try norm(.attentionNorm), after: try norm(.attentionPostNorm))
            )
        } else {
            attention = nil
        }
        if let described = d.feedForward {
            feedForward = (
                try FeedForwardBlock(described, layer, table),
                Norms(before: try norm(.feedForwardNorm), after: try norm(.feedForwardPostNorm))
            )
        } else {
            feedForward = nil
        }
    }

    var hasAttention: Bool { attention != nil }

    /// Changes the rows of the workspace's residual stream.
    ///
    /// - Parameter layer: the layer of the caches, which count those with attention.
    func apply(_ step: Step, layer: Int, width: Int, _ w: Workspace) {
        if let (block, norms) = attention {
            half(norms, step.count, width, w) { x in block.apply(x, step, layer: layer, w, into: w.branch) }
        }
        if let (block, norms) = feedForward {
            half(norms, step.count, width, w) { x in block.apply(x, rows: step.count, w, into: w.branch) }
        }
    }

    /// One half: the norm before, the block, the addition, the norm after.
    private func half(
        _ norms: Norms, _ rows: Int, _ width: Int, _ w: Workspace, _ block: (FloatBuffer) -> Void
    ) {
        if let before = norms.before {
            before.apply(w.hidden.start, rows: rows, w.team, into: w.normed.start)
            block(w.normed)
        } else {
            block(w.hidden)
        }
        if placement == .around { norms.after?.apply(w.branch.start, rows: rows, w.team, into: w.branch.start) }
        hub_add(w.team.team, w.hidden.start, w.branch.start, 1, rows * width)
        if placement == .after { norms.after?.apply(w.hidden.start, rows: rows, w.team, into: w.hidden.start) }
    }
}
