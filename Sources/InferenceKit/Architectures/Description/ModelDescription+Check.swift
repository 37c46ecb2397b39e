import HubCore
import ModelFormats

extension ModelDescription {
    /// Makes sure that nothing computed from the numbers overflows or divides by 0. Each setting was checked where it was
    /// read; this checks the numbers that were computed from several.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for sizes that contradict each other, and for NaN and infinite numbers.
    func check(_ path: String) throws(AIError) {
        for part in encoders + towers { try part.check(path) }
        if let fault = fault { throw .malformed(path, fault) }
    }

    private var fault: String? {
        for (name, value) in numbers where !value.isFinite { return "\(name) is \(value)" }
        if let heads = head?.attention?.heads, width % heads != 0 {
            return "hidden_size \(width) is not divisible by \(heads) heads"
        }
        if let fault = fault(layer: nil) { return fault }
        for (index, layer) in layers.enumerated() where index == 0 || layer != layers[index - 1] {
            if let fault = layer.fault ?? fault(layer: index) { return fault }
        }
        return nil
    }

    /// What is wrong with the sizes of a layer's tensors, or with nil of those outside of the layers. Their dimensions are
    /// sums of products of two settings.
    private func fault(layer: Int?) -> String? {
        for need in tensors(layer: layer) {
            var elements: Int64 = 1
            for side in need.shape {
                guard side > 0 else { return "a tensor would have the shape \(need.shape)" }
                elements = elements.multipliedClamped(by: Int64(side))
            }
            // Far more than any memory has, and few enough to count their bits.
            if elements > 1 << 48 { return "a tensor would have the shape \(need.shape)" }
        }
        return nil
    }

    /// Numbers outside of the layers.
    private var numbers: [(String, Float)] {
        [
            ("the embedding's scale", embedding.scale), ("the logits' scale", head?.scale ?? 1),
            ("the soft-capping of logits", head?.cap ?? 0),
            ("the epsilon of the last norm", finalNorm?.epsilon ?? 0),
            ("the epsilon of the embedding's norm", embedding.norm?.epsilon ?? 0),
            ("the epsilon of the head's norm", head?.norm?.epsilon ?? 0),
        ]
    }
}

extension ModelDescription.Layer {
    /// What is wrong with its numbers; nil if nothing is.
    fileprivate var fault: String? {
        if let fault = experts?.fault ?? recurrence?.fault { return fault }
        for attention in [attention, crossAttention, groupAttention].compactMap({ $0 }) {
            if let fault = attention.fault { return fault }
        }
        for (name, value) in [
            ("the epsilon of norms", norm.epsilon), ("the residual scale", added),
            ("the scale of attention's output", factors.attention),
            ("the scale of a recurrence's output", factors.recurrence),
            ("the scale of a feed-forward block's output", factors.feedForward),
        ] where !value.isFinite { return "\(name) is \(value)" }
        return nil
    }
}

extension ModelDescription.Attention {
    fileprivate var fault: String? {
        // What the working memory of a thread has room for; no model has more than 512.
        if headSize > 1024 { return "head_dim is \(headSize), more than 1024" }
        if heads % kvHeads != 0 {
            return "\(heads) attention heads are not divisible by \(kvHeads) key-value heads"
        }
        guard scale.isFinite, scale > 0 else { return "the attention scale is \(scale)" }
        guard cap.isFinite, cap >= 0 else { return "the soft-capping of attention scores is \(cap)" }
        guard let rotary else { return nil }
        guard Float(rotary.base).isFinite, rotary.base > 0 else {
            return "the base of the rotary embedding is \(rotary.base)"
        }
        return rotary.scaling.attention.isFinite ? nil : "rope_scaling has no finite attention_factor"
    }
}

extension ModelDescription.Rotary.Scaling {
    /// What cosines and sines are multiplied by: yarn's and longrope's attention factor.
    var attention: Double {
        switch self {
        case .yarn(_, _, _, _, let attention, _), .long(_, _, _, let attention): attention
        default: 1
        }
    }
}
