import HubCore
import ModelFormats

/// A decoder as data: everything that distinguishes the architectures of the Llama family.
///
/// A new architecture needs a new way to build this from a configuration; the forward pass reads nothing else.
struct DecoderDescription: Sendable, Hashable {
    /// What a gated feed-forward block applies to its gate.
    enum Activation: Sendable, Hashable { case silu }
    /// Which coordinates a rotary embedding pairs.
    enum Rotation: Sendable, Hashable {
        /// i with i + head size / 2, as in Hugging Face checkpoints.
        case halfSplit
    }
    /// Scaling of the rotary frequencies.
    enum RotaryScaling: Sendable, Hashable {
        /// No scaling.
        case none
        /// As in Llama 3.1: divided by `factor` where a turn takes more than `originalPositions / lowFrequencyFactor`
        /// positions, unchanged where it takes fewer than `originalPositions / highFrequencyFactor`, blended between.
        case llama3(factor: Float, lowFrequencyFactor: Float, highFrequencyFactor: Float, originalPositions: Int)
    }
    /// The position of a block's norms.
    enum NormPlacement: Sendable, Hashable {
        /// Before attention and before the feed-forward block.
        case before
    }

    var hiddenSize: Int
    var layers: Int
    var heads: Int
    var kvHeads: Int
    var headSize: Int
    var intermediateSize: Int
    var vocabulary: Int
    var maxPositions: Int
    var normEpsilon: Float
    var ropeTheta: Double
    var ropeScaling: RotaryScaling
    var activation: Activation
    var rotation: Rotation
    var normPlacement: NormPlacement
    /// Whether the output head is the embedding table.
    var tiedEmbeddings: Bool

    /// Names of the architectures that can be described, by `model_type`.
    static let architectures: Set<String> = ["llama"]

    /// The reasons why a configuration cannot run, each a noun phrase; empty if it can.
    static func obstacles(_ c: ModelConfiguration) -> [String] {
        guard let type = c.modelType else { return ["no model_type in config.json"] }
        guard architectures.contains(type) else { return ["architecture \(type)"] }
        var found: [String] = []
        if let class_ = c.architectures.first, class_ != "LlamaForCausalLM" {
            found.append("model class \(class_)")
        }
        if let quantization = c.quantization { found.append(quantization.description) }
        if !["default", "llama3"].contains(c.rope.type) { found.append("rope_scaling \(c.rope.type)") }
        if c.rope.partialFactor != 1 { found.append("partial_rotary_factor \(c.rope.partialFactor)") }
        if let activation = c.activation, activation != "silu" { found.append("activation \(activation)") }
        if c.attentionBias { found.append("attention_bias") }
        if c.mlpBias { found.append("mlp_bias") }
        return found
    }

    /// Describes a Llama (https://arxiv.org/abs/2307.09288); defaults are those of transformers' LlamaConfig.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming what is not implemented, ``ErrorCode/malformedModel`` for
    ///   missing or inconsistent sizes.
    init(_ c: ModelConfiguration) throws(AIError) {
        let obstacles = Self.obstacles(c)
        guard obstacles.isEmpty else {
            throw .unsupported(c.path, "\(obstacles.joined(separator: ", ")) cannot be run yet")
        }
        func need(_ value: Int?, _ name: String) throws(AIError) -> Int {
            guard let value else { throw .malformed(c.path, "it has no \(name)") }
            return value
        }
        hiddenSize = try need(c.hiddenSize, "hidden_size")
        layers = try need(c.layers, "num_hidden_layers")
        heads = try need(c.heads, "num_attention_heads")
        kvHeads = try need(c.kvHeads, "num_key_value_heads")
        headSize = try need(c.headSize, "head_dim")
        intermediateSize = try need(c.intermediateSize, "intermediate_size")
        vocabulary = try need(c.vocabulary, "vocab_size")
        maxPositions = c.maxPositions ?? 2048
        normEpsilon = Float(c.rmsNormEpsilon ?? 1e-6)
        ropeTheta = c.rope.theta ?? 10_000
        ropeScaling = try Self.scaling(c)
        tiedEmbeddings = c.tiedEmbeddings ?? false
        activation = .silu
        rotation = .halfSplit
        normPlacement = .before
        guard heads % kvHeads == 0 else {
            throw .malformed(c.path, "\(heads) attention heads are not divisible by \(kvHeads) key-value heads")
        }
        guard headSize % 2 == 0 else { throw .malformed(c.path, "head_dim \(headSize) is odd") }
    }

    private static func scaling(_ c: ModelConfiguration) throws(AIError) -> RotaryScaling {
        guard c.rope.type == "llama3" else { return .none }
        guard let factor = c.rope.factor, let low = c.rope.lowFrequencyFactor,
            let high = c.rope.highFrequencyFactor,
            let positions = c.rope.originalMaxPositions
        else {
            throw .malformed(
                c.path,
                "rope_scaling llama3 lacks one of factor, low_freq_factor, high_freq_factor, original_max_position_embeddings"
            )
        }
        // As float32, in which they are used.
        guard Float(factor) >= 1, Float(factor).isFinite, Float(low) > 0, Float(high) > Float(low),
            Float(high).isFinite
        else {
            throw .malformed(
                c.path,
                "rope_scaling llama3 needs a factor of at least 1 and low_freq_factor below high_freq_factor, both positive"
            )
        }
        return .llama3(
            factor: Float(factor), lowFrequencyFactor: Float(low), highFrequencyFactor: Float(high),
            originalPositions: positions)
    }
}
