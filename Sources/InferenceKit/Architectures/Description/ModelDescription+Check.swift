import HubCore
import ModelFormats

extension ModelDescription {
    /// Makes sure that nothing that is computed of the numbers overflows or divides by 0: each setting was checked where
    /// it was read, here are those that came of several.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for sizes that contradict each other, NaN and infinities.
    func check(_ path: String) throws(AIError) {
        for encoder in encoders { try encoder.check(path) }
        if let fault = fault { throw .malformed(path, fault) }
    }

    private var fault: String? {
        for (name, value) in numbers where !value.isFinite { return "\(name) is \(value)" }
        if let fault = fault(layer: nil) { return fault }
        for (index, layer) in layers.enumerated() where index == 0 || layer != layers[index - 1] {
            if let fault = layer.fault ?? fault(layer: index) { return fault }
        }
        return nil
    }

    /// What is wrong with the sizes of tensors. Their sides are sums of products of two settings.
    private func fault(layer: Int?) -> String? {
        for need in tensors(layer: layer) {
            var elements: Int64 = 1
            for side in need.shape {
                guard side > 0 else { return "a tensor would be \(need.shape)" }
                elements = elements.multipliedClamped(by: Int64(side))
            }
            // Far more than any memory has, and few enough to count their bits.
            if elements > 1 << 48 { return "a tensor would be \(need.shape)" }
        }
        return nil
    }

    /// Numbers outside of the layers.
    private var numbers: [(String, Float)] {
        [
            ("the factor of the embedding", embedding.scale), ("the factor of the logits", head?.scale ?? 1),
            ("the cap of the logits", head?.cap ?? 0), ("the epsilon of the last norm", finalNorm?.epsilon ?? 0),
            ("the epsilon of the embedding's norm", embedding.norm?.epsilon ?? 0),
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
            ("the epsilon of norms", norm.epsilon), ("the factor of what layers add", added),
            ("the factor of attention", factors.attention), ("the factor of recurrences", factors.recurrence),
            ("the factor of feed-forward blocks", factors.feedForward),
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
        guard scale.isFinite, scale > 0 else { return "the factor of scores is \(scale)" }
        guard cap.isFinite, cap >= 0 else { return "the cap of scores is \(cap)" }
        guard let rotary else { return nil }
        guard Float(rotary.base).isFinite, rotary.base > 0 else {
            return "the base of the rotary embedding is \(rotary.base)"
        }
        return rotary.scaling.attention.isFinite ? nil : "rope_scaling has no finite attention_factor"
    }
}

extension ModelDescription.Rotary.Scaling {
    /// Factor of cosines and sines.
    var attention: Double {
        switch self {
        case .yarn(_, _, _, _, let attention, _), .long(_, _, _, let attention): attention
        default: 1
        }
    }
}
