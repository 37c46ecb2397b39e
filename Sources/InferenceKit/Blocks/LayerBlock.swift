import CKernels
import HubCore

/// A layer: attention or a recurrence, attention to others, and feed-forward blocks, those that it has, with the norms
/// around them.
struct LayerBlock: Sendable {
    private let attention: (block: First, norms: Norms)?
    private let crossAttention: (block: CrossAttentionBlock, norms: Norms)?
    private let groupAttention: (block: GroupAttentionBlock, norms: Norms)?
    private let recurrence: (block: RecurrentBlock, norms: Norms)?
    /// In their order.
    private let feedForwards: [(block: Second, norms: Norms)]
    private let bottleneck: BottleneckBlock?
    /// Whether what a half makes is scaled before it is added.
    private let isScaled: Bool
    /// Whether places are added to what queries and keys are made of.
    private let isPlaced: Bool
    private let placement: ModelDescription.Norms
    private let input: LayerInputBlock?
    /// Beside attention.
    private let detour: DetourBlock?
    private let streams: StreamMixBlock?
    /// Of the rows after it.
    private let factor: Float
    /// Of what a half adds, and of each block.
    private let added: Float
    private let factors: ModelDescription.Factors

    /// What the first half is, if it attends.
    private enum First {
        case heads(AttentionBlock)
        case latent(LatentBlock)

        /// - Parameter values: what values are made of; nil for `x`.
        func apply(
            _ x: FloatBuffer, values: FloatBuffer? = nil, _ step: Step, layer: Int, _ w: Workspace,
            into out: FloatBuffer
        ) {
            switch self {
            case .heads(let block): block.apply(x, values: values, step, layer: layer, w, into: out)
            case .latent(let block): block.apply(x, step, layer: layer, w, into: out)
            }
        }
    }

    /// What the second half is.
    private enum Second {
        case dense(FeedForwardBlock)
        case experts(ExpertsBlock)
        case both(DenseAndExpertsBlock)

        /// - Parameter stream: the rows before the norm that made `x`.
        func apply(_ x: FloatBuffer, of stream: FloatBuffer, rows: Int, _ w: Workspace, into out: FloatBuffer) {
            switch self {
            case .dense(let block): block.apply(x, rows: rows, w, into: out)
            case .experts(let block): block.apply(x, of: stream, rows: rows, w, into: out)
            case .both(let block): block.apply(x, of: stream, rows: rows, w, into: out)
            }
        }
    }

    /// The norms around a block.
    private struct Norms {
        let before: NormBlock?
        let after: NormBlock?
    }

    init(
        _ d: ModelDescription.Layer, of model: ModelDescription, rotary: (RotaryBlock, Int)?,
        distances: DistanceBlock?, _ layer: Int, _ table: TensorTable
    ) throws(AIError) {
        (placement, added, factors, isScaled) = (d.norms, d.added, d.factors, d.scale != nil)
        isPlaced = model.placing != nil
        input = if let inputs = model.layerInputs { try LayerInputBlock(inputs, layer, table) } else { nil }
        detour = d.detourRank == nil ? nil : try DetourBlock(d.norm, layer, table)
        streams = if let streams = model.streams { try StreamMixBlock(streams, layer, table) } else { nil }
        factor = d.hasFactor ? try table.vector(.layerFactor, layer).array[0] : 1
        func norm(_ role: TensorRole) throws(AIError) -> NormBlock? {
            let isScale = d.scale != nil && (role == .attentionPostNorm || role == .feedForwardPostNorm)
            let norm = isScale ? d.scale ?? d.norm : d.norm
            return d.hasNorm(role) || table.has(role, layer) ? try NormBlock(norm, role, layer, table) : nil
        }
        if let described = d.attention {
            let block: First
            if let latent = described.latent, let rotary {
                block = .latent(try LatentBlock(described, latent, rotary: rotary, layer, table))
            } else {
                block = .heads(
                    try AttentionBlock(
                        described, isCausal: model.isCausal, rotary: rotary, distances: distances,
                        squares: model.pixels?.distances, layer, table))
            }
            attention = (block, Norms(before: try norm(.attentionNorm), after: try norm(.attentionPostNorm)))
        } else {
            attention = nil
        }
        if let described = d.crossAttention {
            crossAttention = (
                try CrossAttentionBlock(described, layer, table),
                Norms(before: try norm(.crossNorm), after: try norm(.crossPostNorm))
            )
        } else {
            crossAttention = nil
        }
        groupAttention =
            d.groupAttention == nil
            ? nil
            : (try GroupAttentionBlock(layer, table), Norms(before: try norm(.groupNorm), after: nil))
        if let described = d.recurrence {
            recurrence = (
                try RecurrentBlock(described, layer, table), Norms(before: try norm(.attentionNorm), after: nil)
            )
        } else {
            recurrence = nil
        }
        feedForwards = try Self.feedForwards(d, layer, table, norm)
        if let described = d.bottleneck {
            bottleneck = try BottleneckBlock(described, norm: d.norm, layer, table)
        } else {
            bottleneck = nil
        }
    }

    /// The blocks of the second half, in their order.
    private static func feedForwards(
        _ d: ModelDescription.Layer, _ layer: Int, _ table: TensorTable,
        _ norm: (TensorRole) throws(AIError) -> NormBlock?
    ) throws(AIError) -> [(Second, Norms)] {
        guard d.feedForward != nil || d.experts != nil else { return [] }
        var blocks: [(Second, Norms)] = []
        let norms = Norms(before: try norm(.feedForwardNorm), after: try norm(.feedForwardPostNorm))
        if let described = d.feedForward {
            for earlier in 0..<d.earlierFeedForwards {
                let block = try FeedForwardBlock(described, layer, earlier: earlier, table)
                blocks.append((.dense(block), Norms(before: nil, after: try norm(.earlierNorm(earlier)))))
            }
            let dense = try FeedForwardBlock(described, layer, table)
            if let experts = d.experts, experts.isBeside {
                blocks.append((.both(try DenseAndExpertsBlock(dense, experts, d.norm, layer, table)), norms))
                return blocks
            }
            blocks.append((.dense(dense), norms))
        }
        if let described = d.experts { blocks.append((.experts(try ExpertsBlock(described, layer, table)), norms)) }
        return blocks
    }

    /// Keeps what cross attention reads of an encoder's rows; see ``CrossAttentionBlock/keep(_:placed:rows:layer:in:_:)``.
    func keep(
        _ x: FloatBuffer, placed: FloatBuffer?, rows: Range<Int>, layer: Int, in cache: KeyValueCache,
        _ w: Workspace
    ) {
        crossAttention?.block.keep(x, placed: placed, rows: rows, layer: layer, in: cache, w)
    }

    /// Changes the rows of the workspace's residual stream.
    ///
    /// - Parameters:
    ///   - number: its number in the model.
    ///   - layer: the layer of the caches.
    ///   - state: where its state begins among those of a text.
    func apply(_ step: Step, number: Int, layer: Int, state: Int, width: Int, _ w: Workspace) {
        streams?.predict(rows: step.count, w)
        bottleneck?.enter(rows: step.count, w)
        let stream = bottleneck == nil ? w.hidden : w.narrow
        let (wide, width) = (width, bottleneck?.width ?? width)
        if case .parallel = placement {
            both(step, layer: layer, width: width, w)
        } else {
            oneByOne(step, stream, number: number, layer: layer, state: state, width: width, w)
        }
        bottleneck?.leave(rows: step.count, w)
        streams?.correct(rows: step.count, w)
        input?.apply(
            rows: step.count, layer: number, w,
            addingTo: streams?.others(rows: step.count, w) ?? [w.hidden.start])
        if factor != 1 { hub_scale(w.team.team, w.hidden.start, factor, step.count * wide) }
    }

    /// The halves one after the other.
    private func oneByOne(
        _ step: Step, _ stream: FloatBuffer, number: Int, layer: Int, state: Int, width: Int, _ w: Workspace
    ) {
        if let attention, let recurrence {
            beside(attention.block, recurrence.block, attention.norms, step, layer, state, width, w)
        } else if let (block, norms) = attention {
            half(norms, stream, step.count, width, w, factors.attention) { x in
                let asked = isPlaced ? w.place(x, rows: step.count) : bottleneck?.asked(w) ?? x
                block.apply(
                    asked, values: isPlaced ? x : bottleneck?.valued(w), step, layer: layer, w, into: w.branch)
            }
            detour?.apply(w.normed, stream, rows: step.count, w)
        }
        if let (block, norms) = crossAttention {
            half(norms, stream, step.count, width, w) { x in
                // Layers that see both sides share one cache of their own rows; of what was read each has its own.
                block.apply(isPlaced ? w.place(x, rows: step.count) : x, step, layer: number, w, into: w.branch)
            }
        }
        if let (block, norms) = groupAttention {
            half(norms, stream, step.count, width, w) { x in
                block.apply(x, rows: step.count, w, into: w.branch)
            }
        }
        if attention == nil, let (block, norms) = recurrence {
            half(norms, stream, step.count, width, w, factors.recurrence) { x in
                block.apply(x, rows: step.count, state: state, w, into: w.branch)
            }
        }
        for (block, norms) in feedForwards {
            half(norms, stream, step.count, width, w, factors.feedForward) { x in
                block.apply(x, of: stream, rows: step.count, w, into: w.branch)
            }
        }
    }

    /// A recurrence and attention of the same rows, after one norm.
    private func beside(
        _ attention: First, _ recurrence: RecurrentBlock, _ norms: Norms, _ step: Step, _ layer: Int, _ state: Int,
        _ width: Int, _ w: Workspace
    ) {
        let (rows, team) = (step.count, w.team)
        norms.before?.apply(w.hidden.start, rows: rows, team, into: w.normed.start)
        recurrence.apply(w.normed, rows: rows, state: state, w, into: w.branch)
        hub_add(team.team, w.hidden.start, w.branch.start, added * factors.recurrence, rows * width)
        attention.apply(w.normed, step, layer: layer, w, into: w.branch)
        hub_add(team.team, w.hidden.start, w.branch.start, added * factors.attention, rows * width)
    }

    /// Both halves of the same rows; so the second norm comes before the first addition.
    private func both(_ step: Step, layer: Int, width: Int, _ w: Workspace) {
        guard let attention, let second = feedForwards.first else { preconditionFailure("a half is missing") }
        let (rows, team) = (step.count, w.team)
        attention.norms.before?.apply(w.hidden.start, rows: rows, team, into: w.normed.start)
        attention.block.apply(w.normed, step, layer: layer, w, into: w.branch)
        second.norms.before?.apply(w.hidden.start, rows: rows, team, into: w.normed.start)
        hub_add(team.team, w.hidden.start, w.branch.start, added, rows * width)
        second.block.apply(w.normed, of: w.hidden, rows: rows, w, into: w.branch)
        hub_add(team.team, w.hidden.start, w.branch.start, added, rows * width)
    }

    /// One half: the norm before, the block, the addition, the norm after.
    private func half(
        _ norms: Norms, _ stream: FloatBuffer, _ rows: Int, _ width: Int, _ w: Workspace, _ factor: Float = 1,
        _ block: (FloatBuffer) -> Void
    ) {
        if let before = norms.before {
            before.apply(stream.start, rows: rows, w.team, into: w.normed.start)
            block(w.normed)
        } else {
            block(stream)
        }
        if placement == .around || placement == .inside || isScaled {
            norms.after?.apply(w.branch.start, rows: rows, w.team, into: w.branch.start)
        }
        hub_add(w.team.team, stream.start, w.branch.start, added * factor, rows * width)
        if placement == .after { norms.after?.apply(stream.start, rows: rows, w.team, into: stream.start) }
    }
}
