import CKernels
import HubCore

/// A layer: attention and feed-forward block with the norms around them.
struct LayerBlock: Sendable {
    private let attention: AttentionBlock
    private let feedForward: FeedForwardBlock
    private let placement: ModelDescription.Norms
    /// Of attention, then of the feed-forward block.
    private let before: [NormBlock?]
    private let after: [NormBlock?]

    init(
        _ d: ModelDescription.Layer, isCausal: Bool, rotary: (RotaryBlock, Int)?, distances: DistanceBlock?,
        _ layer: Int, _ table: TensorTable
    ) throws(AIError) {
        attention = try AttentionBlock(
            d.attention, isCausal: isCausal, rotary: rotary, distances: distances, layer, table)
        feedForward = try FeedForwardBlock(d.feedForward, layer, table)
        placement = d.norms
        func norm(_ role: TensorRole, _ isThere: Bool) throws(AIError) -> NormBlock? {
            isThere ? try NormBlock(d.norm, role, layer, table) : nil
        }
        let (hasFirst, hasLast) = (d.norms != .after, d.norms != .before)
        before = [try norm(.attentionNorm, hasFirst && d.hasAttentionNorm), try norm(.feedForwardNorm, hasFirst)]
        after = [try norm(.attentionPostNorm, hasLast), try norm(.feedForwardPostNorm, hasLast)]
    }

    /// Changes the rows of the workspace's residual stream.
    ///
    /// - Parameter layer: the layer of the caches.
    func apply(_ step: Step, layer: Int, width: Int, _ w: Workspace) {
        half(before[0], after[0], step.count, width, w) { x in
            attention.apply(x, step, layer: layer, w, into: w.branch)
        }
        half(before[1], after[1], step.count, width, w) { x in
            feedForward.apply(x, rows: step.count, w, into: w.branch)
        }
    }

    /// One half: the norm before, the block, the addition, the norm after.
    private func half(
        _ before: NormBlock?, _ after: NormBlock?, _ rows: Int, _ width: Int, _ w: Workspace,
        _ block: (FloatBuffer) -> Void
    ) {
        if let before {
            before.apply(w.hidden.start, rows: rows, w.team, into: w.normed.start)
            block(w.normed)
        } else {
            block(w.hidden)
        }
        if placement == .around { after?.apply(w.branch.start, rows: rows, w.team, into: w.branch.start) }
        hub_add(w.team.team, w.hidden.start, w.branch.start, 1, rows * width)
        if placement == .after { after?.apply(w.hidden.start, rows: rows, w.team, into: w.hidden.start) }
    }
}
