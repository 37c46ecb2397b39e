/// The memory that a decoder needs by what `config.json` usually says: of a model that no engine describes. What recurrent
/// layers remember is not counted.
package struct MemoryEstimate: Sendable, Hashable {
    /// The weights, as stored.
    package let weightsBytes: Int64
    /// Bytes of the KV cache per position in all layers, as float32: 0 if there is none, nil if unknown.
    package let cacheBytesPerPosition: Int64?
    /// The part of them in layers that keep only the last ``window`` positions.
    package let windowedBytesPerPosition: Int64
    /// nil if every layer keeps all positions.
    package let window: Int?
    /// Activations of one position that is being computed, as float32.
    package let activationBytesPerPosition: Int64

    /// Maximum number of positions per pass.
    private static let batch = 256

    package init(weightsBytes: Int64, configuration: ModelConfiguration?) {
        let c = configuration
        self.weightsBytes = weightsBytes
        let cache = c?.cache
        let windowed = product(cache?.windowedLayers, cache?.numbersPerLayer, 4)
        windowedBytesPerPosition = windowed
        cacheBytesPerPosition = cache.map { sum(product($0.fullLayers, $0.numbersPerLayer, 4), windowed) }
        window = cache?.window
        let width = sum(
            product(4, c?.hiddenSize), product(2, c?.intermediateSize), product(2, c?.heads, c?.headSize),
            product(2, c?.kvHeads, c?.headSize))
        activationBytesPerPosition = width.multipliedClamped(by: 4)
    }

    /// Bytes of weights, KV cache for `context` positions if known, and activations; at most `Int64.max`.
    ///
    /// - Parameter cacheBits: of a number in the KV cache; float16 is the default of `hub try`.
    package func bytes(context: Int, cacheBits: Int = 16) -> Int64 {
        let kept = ((cacheBytesPerPosition ?? 0) - windowedBytesPerPosition).multipliedClamped(by: Int64(context))
        let windowed = windowedBytesPerPosition.multipliedClamped(by: Int64(min(context, window ?? context)))
        return sum(
            weightsBytes, Self.cacheBytes(sum(kept, windowed), bits: cacheBits),
            activationBytesPerPosition.multipliedClamped(by: Int64(min(Self.batch, context))))
    }
}

extension MemoryEstimate {
    /// Bytes of a KV cache with this many bits a number, from those as float32.
    package static func cacheBytes(_ bytes: Int64, bits: Int) -> Int64 {
        guard bytes < .max else { return .max }
        return (bytes / 32).multipliedClamped(by: Int64(bits)).addedClamped((bytes % 32) * Int64(bits) / 32)
    }
}

/// A product of non-negative factors; 0 if one is unknown.
private func product(_ factors: Int?...) -> Int64 {
    factors.reduce(1) { $0.multipliedClamped(by: Int64($1 ?? 0)) }
}

private func sum(_ terms: Int64...) -> Int64 { terms.reduce(0) { $0.addedClamped($1) } }
