/// How much memory a decoder needs, from its headers alone.
package struct MemoryEstimate: Sendable, Hashable {
    /// The weights, as stored.
    package let weightsBytes: Int64
    /// Keys and values of one position in all layers, as float32: 0 where nothing is kept, nil where it is not known what is.
    package let cacheBytesPerPosition: Int64?
    /// The part of them in layers that keep the last ``window`` positions only.
    package let windowedBytesPerPosition: Int64
    /// nil where every layer keeps all.
    package let window: Int?
    /// Activations of one position that is being computed, as float32.
    package let activationBytesPerPosition: Int64
    /// How many positions are computed at a time at most.
    package let batch: Int

    package init(weightsBytes: Int64, configuration: ModelConfiguration?, batch: Int) {
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
        self.batch = batch
    }

    /// Weights, keys and values of `context` positions as far as they are known, and activations, in bytes; at most
    /// `Int64.max`.
    package func bytes(context: Int) -> Int64 {
        let kept = ((cacheBytesPerPosition ?? 0) - windowedBytesPerPosition).multipliedClamped(by: Int64(context))
        return sum(
            weightsBytes, kept,
            windowedBytesPerPosition.multipliedClamped(by: Int64(min(context, window ?? context))),
            activationBytesPerPosition.multipliedClamped(by: Int64(min(batch, context))))
    }
}

/// What running a model takes of the memory, told before any of it is fetched.
///
/// - Where `config.json` says how the decoder is built, it is what `hub try` itself takes: the weights as stored,
///   2 × layers × key-value heads × head size × 4 bytes for each position (keys and values as float32), and the activations of
///   a batch; for as many positions as the model was made for, 4,096 at most.
/// - Where it does not, or nobody has it: the weights and a fifth of them. "When performing inference, expect to add up to
///   an additional 20% to this as found by EleutherAI"
///   (https://huggingface.co/docs/accelerate/usage_guides/model_size_estimator,
///   https://blog.eleuther.ai/transformer-math/).
///
/// Weights are the bytes of their files, which is parameters × bytes of a weight and some kilobytes of header; where no file
/// is known, that product alone.
package struct MemoryNeed: Sendable, Hashable {
    /// Bytes in all; at most `Int64.max`.
    package let bytes: Int64
    /// Bytes of the weights.
    package let weightsBytes: Int64
    /// The positions counted, where `config.json` says what one takes; nil for the rule of a fifth.
    package let context: Int?

    /// Positions at most, and computed at a time: what `hub try` takes without being asked.
    private static let (mostPositions, batch) = (4096, 256)
    /// Positions where a configuration does not say what the model was made for.
    private static let usualPositions = 2048

    /// - Parameter configuration: what is known of the decoder; one without layers, heads or widths counts as none, and so
    ///   does one of a model that keeps nothing of a position.
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

    /// - Parameter bitsPerWeight: 16 is how most models are published.
    package init(parameters: Int64, bitsPerWeight: Double = 16, configuration: ModelConfiguration? = nil) {
        let bytes = (Double(max(0, parameters)) * bitsPerWeight / 8).rounded(.up)
        self.init(weightsBytes: Int64(exactly: bytes) ?? .max, configuration: configuration)
    }

    /// - Parameter parameters: how many there are of each element type, as the Hub counts a model's safetensors:
    ///   `["BF16": 1115264]`. nil where one of the types is not known.
    package init?(parameters: [String: Int64], configuration: ModelConfiguration? = nil) {
        var bits: Int64 = 0
        for (name, count) in parameters {
            guard let type = TensorDataType(rawValue: name), count >= 0 else { return nil }
            bits = sum(bits, count.multipliedClamped(by: Int64(type.bits)))
        }
        self.init(weightsBytes: bits / 8, configuration: configuration)
    }
}

/// A product of which no factor is negative; 0 where one is not known.
private func product(_ factors: Int?...) -> Int64 {
    factors.reduce(1) { $0.multipliedClamped(by: Int64($1 ?? 0)) }
}

private func sum(_ terms: Int64...) -> Int64 { terms.reduce(0) { $0.addedClamped($1) } }
