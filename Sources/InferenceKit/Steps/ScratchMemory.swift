import CKernels
import ModelFormats

/// Memory beside the weights, as far as it grows with the length of texts.
extension ModelDescription {
    /// The widest row of feed-forward blocks, in numbers.
    var innerWidth: Int {
        layers.reduce(layerInputs?.width ?? 0) {
            max($0, $1.feedForward?.width ?? 0, $1.experts?.shared?.width ?? 0, $1.detourRank ?? 0)
        }
    }
    private var attentions: [Attention] {
        layers.flatMap { [$0.attention, $0.crossAttention, $0.groupAttention].compactMap { $0 } }
    }
    /// The widest row of queries.
    var queryWidth: Int { attentions.map(\.queryWidth).max() ?? 0 }
    /// The widest row of keys.
    var keyWidth: Int { attentions.map(\.keyWidth).max() ?? 0 }
    /// All numbers that a workspace has for a row.
    var rowWidth: Int {
        3 * width + 2 * queryWidth + 2 * keyWidth + 2 * innerWidth + rotaries.reduce(0) { $0 + $1.rotated }
            + layerInputWidth + RecurrentSpace.width(self) + 2 * width * (streams?.count ?? 0)
            + LatentSpace.width(self)
    }

    /// The description for texts of at most so many positions.
    func limited(to context: Int) -> ModelDescription {
        var limited = self
        limited.maxPositions = min(maxPositions, context)
        limited.encoders = encoders.map { $0.limited(to: context) }
        return limited
    }

    /// A lower bound of the bytes that a text takes: KV cache, recurrent states and scratch rows. It saturates at `Int64.max`.
    ///
    /// - Parameters:
    ///   - context: the text's length in tokens.
    ///   - cacheBits: of a number in the KV cache.
    func scratchBytes(context: Int, cacheBits: Int) -> Int64 {
        let length = Int64(context)
        var cached: Int64 = 0
        for shape in cacheShapes + (encoder == nil ? [] : crossShapes) {
            let kept = Int64(min(context, shape.window ?? context))
            cached = cached.addedClamped(
                kept.multipliedClamped(by: Int64(4 * shape.kvHeads * (shape.headSize + shape.valueSize))))
        }
        var perPosition = isCausal ? 0 : 4 * rowWidth
        if let distances {
            perPosition += 8 * (distances.vectors == nil ? layers[0].attention?.heads ?? 0 : 2 * queryWidth)
        }
        return MemoryEstimate.cacheBytes(cached, bits: cacheBits)
            .addedClamped(Int64(stateSize).multipliedClamped(by: 4))
            .addedClamped(length.multipliedClamped(by: Int64(perPosition)))
            .addedClamped(encoder?.scratchBytes(context: context, cacheBits: cacheBits) ?? 0)
    }
}
