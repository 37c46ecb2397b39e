/// One tensor that a described model has.
struct TensorNeed: Sendable, Hashable {
    let role: TensorRole
    /// nil for a tensor of the model.
    var layer: Int?
    var isBias = false
    /// A matrix as outputs, inputs; the length of a vector; of experts all matrices of a layer, with their number first;
    /// of a convolution as the file has it.
    let shape: [Int]
}

extension ModelDescription {
    /// The tensors that a layer has, or with nil those outside of the layers. Loading, the check of tensors and the
    /// estimate of memory all read this.
    func tensors(layer: Int?) -> [TensorNeed] {
        var needs: [TensorNeed] = []
        func add(_ role: TensorRole, _ shape: Int..., bias: Bool = false) {
            needs.append(TensorNeed(role: role, layer: layer, shape: shape))
            if bias { needs.append(TensorNeed(role: role, layer: layer, isBias: true, shape: [shape[0]])) }
        }
        func add(_ role: TensorRole, _ norm: Norm?, _ width: Int) {
            guard let norm, norm.hasWeight else { return }
            add(role, width, bias: norm.hasBias)
        }
        guard let layer else {
            let objects = detection?.tensors(width) ?? []
            if let pixels { return pictureTensors(pixels) + objects + headTensors }
            let table = embedding.width ?? width
            var (inner, projected) = (table, table)
            if case .first(_, let neighbours) = embedding.projection {
                (inner, projected) = (width, neighbours ? 3 * table : table)
            }
            needs += otherSideTensors
            add(.embedding, vocabulary, table)
            for need in encoder?.tensors ?? [] where need.role != .embedding || encoder?.embedding.isOwn == true {
                needs.append(
                    TensorNeed(
                        role: .encoder(need.role), layer: need.layer, isBias: need.isBias, shape: need.shape))
            }
            if let positions = embedding.positions { add(.positions, positions, inner) }
            if let types = embedding.types { add(.tokenTypes, types, inner) }
            add(.embeddingNorm, embedding.norm, inner)
            if embedding.projection != nil { add(.embeddingProjection, width, projected, bias: true) }
            if let patches = embedding.patches {
                add(.patchHidden, patches.width, patches.count, bias: true)
                add(.patchOutput, width, patches.width, bias: true)
                add(.patchResidual, width, patches.count, bias: true)
            }
            if let inputs = layerInputs {
                add(.layerTable, inputs.vocabulary, layerInputWidth)
                add(.layerProjection, layerInputWidth, width)
                add(.layerProjectionNorm, inputs.norm, inputs.width)
            }
            needs += streams?.tensors(layer: nil, width) ?? []
            if let distances, distances.hasTable {
                let heads = layers.first?.attention?.heads ?? 0
                add(.distances, distances.rows, distances.vectors == nil ? heads : width)
                add(.distancesNorm, distances.vectors?.norm, width)
            }
            return needs + objects + headTensors
        }
        func addNorm(_ role: TensorRole, _ a: Attention, _ heads: Int) {
            switch a.headNormSpan {
            case .head: add(role, a.headNorm, a.headSize)
            case .width: add(role, a.headNorm, heads * a.headSize)
            case .each: if a.headNorm != nil { add(role, heads, a.headSize) }
            }
        }
        let d = layers[layer]
        let wide = width
        // The width of the layer's halves.
        let width = d.bottleneck?.width ?? wide
        if let bottleneck = d.bottleneck {
            add(.bottleneckInput, width, wide, bias: true)
            add(.bottleneckInputNorm, d.norm, width)
            if bottleneck.hasQueries {
                add(.bottleneckQuery, width, wide, bias: true)
                add(.bottleneckQueryNorm, d.norm, width)
            }
            add(.bottleneckOutput, wide, width, bias: true)
            add(.bottleneckOutputNorm, d.norm, wide)
        }
        if let a = d.attention, let latent = a.latent {
            needs += a.latentTensors(latent, width: width).map {
                TensorNeed(role: $0, layer: layer, isBias: $1, shape: $2)
            }
            add(.attentionOutput, width, a.heads * latent.valueSize, bias: a.hasOutputBias)
            if d.hasNorm(.attentionNorm) { add(.attentionNorm, d.norm, width) }
        } else if let a = d.attention {
            add(.query, a.queryWidth, width, bias: a.hasInputBias)
            if a.hasOutputGate { add(.outputGate, a.queryWidth, width, bias: a.hasInputBias) }
            addNorm(.queryNorm, a, a.heads)
            if a.source == nil {
                add(.key, a.keyWidth, width, bias: a.hasKeyBias ?? a.hasInputBias)
                addNorm(.keyNorm, a, a.kvHeads)
            }
            if a.hasOwnValues {
                add(.value, a.keyWidth, d.bottleneck?.hasQueries == true ? wide : width, bias: a.hasInputBias)
            }
            if let vectors = distances?.vectors, !vectors.isShared {
                if vectors.hasKeys { add(.distanceKey, a.queryWidth, width, bias: vectors.hasKeyBias) }
                if vectors.hasQueries { add(.distanceQuery, a.queryWidth, width, bias: true) }
            }
            add(.attentionOutput, width, a.queryWidth, bias: a.hasOutputBias)
            if a.hasSinks { add(.sinks, a.heads) }
            if let distances = pixels?.distances, !distances.isShared {
                add(.squareDistances, distances.count, a.heads)
            }
            for role in [TensorRole.attentionNorm, .attentionPostNorm] where d.hasNorm(role) {
                add(role, d.norm, width)
            }
            add(.attentionPostNorm, d.scale, width)
        }
        if let a = d.crossAttention {
            let read = encoder?.width ?? width
            add(.crossQuery, a.queryWidth, width, bias: a.hasInputBias)
            add(.crossKey, a.keyWidth, read, bias: a.hasKeyBias ?? a.hasInputBias)
            add(.crossValue, a.keyWidth, read, bias: a.hasInputBias)
            add(.crossOutput, width, a.queryWidth, bias: a.hasOutputBias)
            for role in [TensorRole.crossNorm, .crossPostNorm] where d.hasNorm(role) { add(role, d.norm, width) }
        }
        if let a = d.groupAttention {
            add(.groupValue, a.keyWidth, width)
            add(.groupOutput, width, a.queryWidth)
            add(.groupNorm, d.norm, width)
        }
        if let recurrence = d.recurrence {
            for (role, shape, hasBias) in recurrence.tensors(width: width) {
                needs.append(TensorNeed(role: role, layer: layer, shape: shape))
                if hasBias { needs.append(TensorNeed(role: role, layer: layer, isBias: true, shape: [shape[0]])) }
            }
            add(.attentionNorm, d.norm, width)
        }
        if let f = d.feedForward {
            for block in 0..<d.earlierFeedForwards {
                add(.earlierUp(block), f.width, width, bias: f.hasBias)
                add(.earlierDown(block), width, f.width, bias: f.hasOutputBias ?? f.hasBias)
                add(.earlierNorm(block), d.norm, width)
            }
            if f.hasXIELU {
                for role in [TensorRole.positiveSlope, .negativeSlope] { add(role, 1) }
                for role in [TensorRole.commonSlope, .largestExponent] { add(role) }
            }
            if f.isGated { add(.gate, f.width, width, bias: f.hasBias) }
            add(.up, f.width, width, bias: f.hasBias)
            add(.down, width, f.width, bias: f.hasOutputBias ?? f.hasBias)
        }
        if let experts = d.experts {
            needs += experts.tensors(width).map { TensorNeed(role: $0, layer: layer, isBias: $1, shape: $2) }
        }
        if d.experts?.isBeside == true {
            for role in [TensorRole.denseNorm, .expertsNorm, .expertsPostNorm] { add(role, d.norm, width) }
        }
        if d.feedForward != nil || d.experts != nil {
            for role in [TensorRole.feedForwardNorm, .feedForwardPostNorm] where d.hasNorm(role) {
                add(role, d.norm, width)
            }
            add(.feedForwardPostNorm, d.scale, width)
        }
        if let rank = d.detourRank {
            add(.detourLeft, rank, width)
            add(.detourRight, width, rank)
            add(.detourNorm, d.norm, width)
        }
        needs += streams?.tensors(layer: layer, width) ?? []
        if let inputs = layerInputs {
            add(.layerGate, inputs.width, width)
            add(.layerOutput, width, inputs.width)
            add(.layerNorm, inputs.norm, width)
        }
        if d.hasFactor { add(.layerFactor, 1) }
        return needs
    }

    /// Those behind the last layer.
    private var headTensors: [TensorNeed] {
        var needs: [TensorNeed] = []
        func add(_ role: TensorRole, _ shape: Int..., bias: Bool = false) {
            needs.append(TensorNeed(role: role, shape: shape))
            if bias { needs.append(TensorNeed(role: role, isBias: true, shape: [shape[0]])) }
        }
        func add(_ role: TensorRole, _ norm: Norm?, _ width: Int) {
            guard let norm, norm.hasWeight else { return }
            add(role, width, bias: norm.hasBias)
        }
        add(.finalNorm, finalNorm, width)
        guard let head else { return needs }
        let width = head.inputWidth(width)
        add(.headInputNorm, head.norm, width)
        if let dense = head.dense {
            add(.headDense, dense.width, width, bias: dense.hasBias)
            add(.headNorm, dense.norm, dense.width)
        }
        if let pooling = head.attention { needs += poolingTensors(pooling) }
        if !head.isTied, head.hasMatrix { add(.head, outputs, (head.dense?.width ?? width) - head.rest) }
        if head.rest > 0 { add(.headRest, outputs, head.rest) }
        if head.hasResidual { add(.headResidual, outputs, width, bias: true) }
        if head.hasBias { needs.append(TensorNeed(role: .head, isBias: true, shape: [outputs])) }
        return needs
    }

    /// All of them.
    var tensors: [TensorNeed] {
        let stored = places.map { (0...($0.max() ?? 0)).map { $0 } } ?? Array(layers.indices)
        return tensors(layer: nil) + stored.flatMap { tensors(layer: $0) }
    }
}

extension ModelDescription.Layer {
    /// Whether its halves have a norm at a place.
    func hasNorm(_ role: TensorRole) -> Bool {
        let areBefore = norms != .after && norms != .inside
        let areAfter = norms == .around || norms == .after || norms == .inside
        return switch role {
        case .attentionNorm: areBefore && hasAttentionNorm
        case .feedForwardNorm: areBefore && norms != .parallel(sharesNorm: true)
        case .crossNorm: areBefore && crossAttention != nil
        case .crossPostNorm: areAfter && crossAttention != nil
        case .attentionPostNorm, .feedForwardPostNorm: areAfter
        default: false
        }
    }
}
