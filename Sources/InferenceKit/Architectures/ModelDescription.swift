/// A model as data: everything that distinguishes one from another of its kind. The forward pass reads nothing else.
struct ModelDescription: Sendable, Hashable {
    /// Tokens in the vocabulary.
    var vocabulary: Int
    /// Width of the residual stream.
    var width: Int
    /// The number of positions that it was made for.
    var maxPositions: Int
    var embedding = Embedding()
    var layers: [Layer]
    /// After the last layer; nil for none.
    var finalNorm: Norm?
    /// nil for an encoder.
    var head: Head?
    /// Whether a position sees only itself and those before it.
    var isCausal = true

    /// How ids become rows.
    struct Embedding: Sendable, Hashable {
        /// Factor of the rows.
        var scale: Float = 1
        /// Rows of a table of learned positions; nil for none.
        var positions: Int?
        /// The row of the first position.
        var positionOffset = 0
        /// Rows of a table of token types, of which the first is used; nil for none.
        var types: Int?
        var norm: Norm?
    }

    /// A norm (RMS, https://arxiv.org/abs/1910.07467, or layer norm, https://arxiv.org/abs/1607.06450).
    struct Norm: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            /// - Parameter offset: added to the stored weight: 1 for Gemma.
            case rms(offset: Float)
            case layer(hasBias: Bool)
        }
        var kind = Kind.rms(offset: 0)
        var epsilon: Float
    }

    /// How the last rows become logits.
    struct Head: Sendable, Hashable {
        /// Whether it is the embedding table.
        var isTied: Bool
        /// Logits become `cap * tanh(logit / cap)`; 0 for none.
        var cap: Float = 0
        /// Factor of the logits.
        var scale: Float = 1
    }

    /// A layer: attention, then a feed-forward block, each with its norms around it.
    struct Layer: Sendable, Hashable {
        var attention: Attention
        var feedForward: FeedForward
        var norms: Norms
        var norm: Norm
    }

    /// Where a layer's norms stand.
    enum Norms: Sendable, Hashable {
        /// Before each half: `x + f(norm(x))`.
        case before
        /// Before and after each half: `x + norm(f(norm(x)))`.
        case around
        /// After each half and its addition: `norm(x + f(x))`.
        case after
    }

    struct Attention: Sendable, Hashable {
        var heads: Int
        /// Heads of keys and values.
        var kvHeads: Int
        /// Numbers in a head.
        var headSize: Int
        /// Factor of the scores.
        var scale: Float
        /// Scores become `cap * tanh(score / cap)`; 0 for none.
        var cap: Float = 0
        /// Positions that it sees, itself included; nil for all.
        var window: Int?
        /// nil for none.
        var rotary: Rotary?
        /// Of queries and keys, per head, before the rotation; nil for none.
        var headNorm: Norm?
        /// Whether queries, keys and values have biases.
        var hasInputBias = false
        var hasOutputBias = false

        var queryWidth: Int { heads * headSize }
        var keyWidth: Int { kvHeads * headSize }
    }

    enum Activation: Sendable, Hashable { case silu, gelu, geluTanh, quickGelu, relu, squaredRelu }

    struct FeedForward: Sendable, Hashable {
        var width: Int
        var activation: Activation
        /// `down(activation(gate(x)) * up(x))`; otherwise `down(activation(up(x)))`.
        var isGated: Bool
        var hasBias = false
    }

    /// A rotary embedding (https://arxiv.org/abs/2104.09864).
    struct Rotary: Sendable, Hashable {
        var base: Double
        /// Coordinates of a head that rotate, the first ones.
        var rotated: Int
        /// Whether coordinates 2i and 2i + 1 are a pair, as in llama.cpp's Llama; otherwise i and i + rotated / 2.
        var isAdjacent = false
        var scaling = Scaling.none
        /// Whether a tensor of the file divides the frequencies: GGUF's way to write ``Scaling/llama3``.
        var hasFactors = false
    }
}
