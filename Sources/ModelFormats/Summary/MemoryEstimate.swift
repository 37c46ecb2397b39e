/// The memory a decoder needs, from headers only.
package struct MemoryEstimate: Sendable, Hashable {
    /// The weights, as stored.
    package let weightsBytes: Int64
    /// Bytes of the KV cache per position in all layers, as float32: 0 if there is none, nil if unknown.
    package let cacheBytesPerPosition: Int64?
    /// The part of them in layers that keep only the last ``window`` positions.
    package let windowedBytesPerPosition: Int64
    /// nil if every layer keeps all positions.
    package let window: Int?
    /// What recurrent layers remember of a text.
    package let stateBytes: Int64
    /// Activations of one position that is being computed, as float32.
    package let activationBytesPerPosition: Int64
    /// Maximum number of positions per pass.
    package let batch: Int

    package init(weightsBytes: Int64, configuration: ModelConfiguration?, batch: Int) {
        let c = configuration
        self.weightsBytes = weightsBytes
        let cache = c?.cache
        let windowed = product(cache?.windowedLayers, cache?.numbersPerWindowedLayer, 4)
        windowedBytesPerPosition = windowed
        cacheBytesPerPosition = cache.map { sum(product($0.fullLayers, $0.numbersPerLayer, 4), windowed) }
        window = cache?.window
        let width = sum(
            product(4, c?.hiddenSize), product(2, c?.intermediateSize), product(2, c?.heads, c?.headSize),
            product(2, c?.kvHeads, c?.headSize))
        stateBytes = c?.states.bytes ?? 0
        activationBytesPerPosition = sum(width, c?.states.activations ?? 0).multipliedClamped(by: 4)
        self.batch = batch
    }

    /// Bytes of weights, KV cache for `context` positions if known, states, and activations; at most `Int64.max`.
    ///
    /// - Parameter cacheBits: of a number in the KV cache; float16 is the default of `hub try`.
    package func bytes(context: Int, cacheBits: Int = 16) -> Int64 {
        let kept = ((cacheBytesPerPosition ?? 0) - windowedBytesPerPosition).multipliedClamped(by: Int64(context))
        let windowed = windowedBytesPerPosition.multipliedClamped(by: Int64(min(context, window ?? context)))
        return sum(
            weightsBytes, Self.cacheBytes(sum(kept, windowed), bits: cacheBits), stateBytes,
            activationBytesPerPosition.multipliedClamped(by: Int64(min(batch, context))))
    }
}

extension MemoryEstimate {
    /// Bytes of a KV cache with this many bits a number, from those as float32.
    package static func cacheBytes(_ bytes: Int64, bits: Int) -> Int64 {
        guard bytes < .max else { return .max }
        return (bytes / 32).multipliedClamped(by: Int64(bits)).addedClamped((bytes % 32) * Int64(bits) / 32)
    }
}

/// The memory needed to run a model, known before it is downloaded.
///
/// - If `config.json` describes the decoder, it is what `hub try` uses: the weights as stored, 2 × layers × key-value
///   heads × head size × 2 bytes per position (KV cache as float16), and the activations of a batch; for the model's
///   own context, at most 4,096 positions.
/// - Otherwise the weights and a fifth of them. "When performing inference, expect to add up to an additional 20% to
///   this as found by EleutherAI" (https://huggingface.co/docs/accelerate/usage_guides/model_size_estimator,
///   https://blog.eleuther.ai/transformer-math/).
///
/// Weights are the bytes of their files: parameters × bytes per weight and some kilobytes of header. If no file is
/// known, only that product.
package struct MemoryNeed: Sendable, Hashable {
    /// Bytes in all; at most `Int64.max`.
    package let bytes: Int64
    /// Bytes of the weights.
    package let weightsBytes: Int64
    /// The number of positions counted; nil for the rule of a fifth.
    package let context: Int?

    /// Maximum positions and positions per pass: the defaults of `hub try`.
    private static let (mostPositions, batch) = (4096, 256)
    /// Positions if a configuration does not give the model's context.
    private static let usualPositions = 2048

    /// - Parameter configuration: the decoder's configuration; one without layers, heads or widths counts as none, and
    ///   so does one without a KV cache.
    package init(weightsBytes: Int64, configuration: ModelConfiguration? = nil) {
        self.weightsBytes = weightsBytes
        guard let c = configuration, c.cache?.keepsPositions == true, c.hiddenSize != nil else {
            context = nil
            bytes = sum(weightsBytes, weightsBytes / 5)
            return
        }
        let context = min(c.maxPositions ?? Self.usualPositions, Self.mostPositions)
        self.context = context
        bytes = MemoryEstimate(weightsBytes: weightsBytes, configuration: c, batch: Self.batch).bytes(
            context: context)
    }

    /// - Parameter bitsPerWeight: most models are published with 16.
    package init(parameters: Int64, bitsPerWeight: Double = 16, configuration: ModelConfiguration? = nil) {
        let bytes = (Double(max(0, parameters)) * bitsPerWeight / 8).rounded(.up)
        self.init(weightsBytes: Int64(exactly: bytes) ?? .max, configuration: configuration)
    }

    /// - Parameter parameters: counts by element type, as the Hub reports them for safetensors: `["BF16": 1115264]`.
    ///   nil if a type is unknown.
    package init?(parameters: [String: Int64], configuration: ModelConfiguration? = nil) {
        var bits: Int64 = 0
        for (name, count) in parameters {
            guard let type = TensorDataType(rawValue: name), count >= 0 else { return nil }
            bits = sum(bits, count.multipliedClamped(by: Int64(type.bits)))
        }
        self.init(weightsBytes: bits / 8, configuration: configuration)
    }
}

/// A product of non-negative factors; 0 if one is unknown.
private func product(_ factors: Int?...) -> Int64 {
    factors.reduce(1) { $0.multipliedClamped(by: Int64($1 ?? 0)) }
}

private func sum(_ terms: Int64...) -> Int64 { terms.reduce(0) { $0.addedClamped($1) } }
