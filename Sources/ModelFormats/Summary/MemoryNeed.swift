/// The memory needed to run a model, known before it is downloaded.
///
/// - If `config.json` is known and an engine describes the model, it is what `hub try` allocates (``MemoryRule``), for
///   the model's own context, at most 4,096 positions. Of a decoder that no engine describes it is the weights as stored,
///   2 × layers × key-value heads × head size × 2 bytes per position (KV cache as float16), and the activations of a
///   batch.
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

    /// Maximum positions: the default of `hub try`.
    private static let mostPositions = 4096
    /// Positions if a configuration does not give the model's context.
    private static let usualPositions = 2048

    /// What an engine counted.
    package init(bytes: Int64, weightsBytes: Int64, context: Int) {
        (self.bytes, self.weightsBytes, self.context) = (bytes, weightsBytes, context)
    }

    /// The most weights that so much memory has room for, by the rule of a fifth.
    package static func mostWeights(in bytes: Int64) -> Int64 { bytes / 6 * 5 }

    /// - Parameter configuration: the decoder's configuration; one without layers, heads or widths counts as none, and
    ///   so does one without a KV cache, or of which only a part is told, because it has states of fixed size too.
    package init(weightsBytes: Int64, configuration: ModelConfiguration? = nil) {
        self.weightsBytes = weightsBytes
        guard let c = configuration, let cache = c.cache, cache.keepsPositions, !cache.hasStates,
            c.hiddenSize != nil
        else {
            context = nil
            bytes = weightsBytes.addedClamped(weightsBytes / 5)
            return
        }
        let context = min(c.maxPositions ?? Self.usualPositions, Self.mostPositions)
        self.context = context
        bytes = MemoryEstimate(weightsBytes: weightsBytes, configuration: c).bytes(context: context)
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
            bits = bits.addedClamped(count.multipliedClamped(by: Int64(type.bits)))
        }
        self.init(weightsBytes: bits / 8, configuration: configuration)
    }
}

/// Says what running a model takes, by its configuration: as an engine counts it, which is handed down to those who do not
/// know one.
package struct MemoryRule: Sendable {
    /// - Parameter weightsBytes: of the weights.
    package let need: @Sendable (_ weightsBytes: Int64, ModelConfiguration) -> MemoryNeed

    package init(_ need: @escaping @Sendable (_ weightsBytes: Int64, ModelConfiguration) -> MemoryNeed) {
        self.need = need
    }

    /// Without an engine.
    package static let configured = MemoryRule { MemoryNeed(weightsBytes: $0, configuration: $1) }
}
