/// A model as data: everything that distinguishes one from another of its kind. The forward pass reads nothing else.
struct ModelDescription: Sendable, Hashable {
    /// Tokens in the vocabulary.
    var vocabulary: Int
    /// Width of the residual stream.
    var width: Int
    /// The number of positions that it was made for.
    var maxPositions: Int
    var embedding = Embedding()
    /// How a picture becomes rows, in the place of ``embedding``, of which only the norm counts; nil for a model of texts
    /// or series.
    var pixels: Pixels?
    /// What finds objects in a picture, in the place of a head; nil for a model that finds none.
    var detection: Detection?
    /// What every layer adds to the rows that queries and keys are made of, and not to those of values; nil for nothing.
    var placing: Placing?
    /// Rows that tokens have for each layer; nil for none.
    var layerInputs: LayerInputs?
    /// nil for one residual stream.
    var streams: Streams?
    /// What the distance between a query and a key adds to their score, in every layer; nil for nothing.
    var distances: Distances?
    var layers: [Layer]
    /// The number that each layer's tensors have in the file, where several share them; nil where each has its own.
    var places: [Int]?
    /// After the last layer; nil for none.
    var finalNorm: Norm?
    /// How the last rows become outputs; nil where they are the result themselves.
    var head: Head?
    /// Whether a position sees only itself and those before it.
    var isCausal = true
    /// The model that reads the text before this one answers it, for the layers' cross attention: one, or none for a
    /// decoder alone. Both have one table of tokens, unless the encoder's is its own.
    var encoders: [ModelDescription] = []
    var encoder: ModelDescription? { encoders.first }
    /// The model that reads pictures into the space of this one's vectors of texts: one, or none.
    var towers: [ModelDescription] = []
    var tower: ModelDescription? { towers.first }
    /// How vectors of the two are compared; nil for a model of one side.
    var similarity: Similarity?
    /// How the rows of a text end whose vector is read from the last one; nil where they end with the text.
    var ending: Ending?
    /// The tasks for which its file has additions to the matrices. They are not run.
    var additions: [String] = []
    /// What it is for.
    var task = ModelTask.textGeneration
    /// How a prompt says its language, and that of the translation; nil where it does not.
    var languages: Languages?
    /// How it forecasts series; nil for a model of texts.
    var forecast: ForecastSettings?

    /// How ids become rows.
    struct Embedding: Sendable, Hashable {
        /// Factor of the rows.
        var scale: Float = 1
        /// Rows of a table of learned positions; nil for none.
        var positions: Int?
        /// The row of the first position.
        var positionOffset = 0
        /// Positions that are computed; nil for none.
        var sinusoids: Sinusoids?
        /// Rows of a table of token types; nil for none.
        var types: Int?
        var norm: Norm?
        /// nil where masks have rows like other tokens.
        var masking: Masking?
        /// nil where rows are as wide as the model.
        var projection: Projection?
        /// Rows of numbers that may stand in the place of tokens; nil for none.
        var patches: Patches?
        /// Whether an encoder has a table of tokens that is not the decoder's.
        var isOwn = false

        /// How rows of another width become those of the model.
        enum Projection: Sendable, Hashable {
            /// Positions, types and norm are of that width too; then a matrix with a bias.
            case last(from: Int)
            /// The matrix with its bias comes first.
            ///
            /// - Parameter neighbours: whether it takes the rows of the next token, this and the one before, side by
            ///   side (https://arxiv.org/abs/2004.02984).
            case first(from: Int, neighbours: Bool)
        }

        /// The width of the tables, if it is not the model's.
        var width: Int? {
            switch projection {
            case .last(let width), .first(let width, _): width
            case nil: nil
            }
        }
    }

    /// A position as sines, in the first half of a row, and cosines, in the other, of ever longer periods
    /// (https://arxiv.org/abs/1706.03762, section 3.5).
    struct Sinusoids: Sendable, Hashable {
        /// How the angle of a place in a half grows with the position.
        enum Periods: Sendable, Hashable {
            /// By `10000^(-2 place / width)`, in transformers' `MarianSinusoidalPositionalEmbedding`.
            case byWidth
            /// By powers that reach 1/10000 at the last place, in `M2M100SinusoidalPositionalEmbedding`.
            case toTheLast
        }
        var periods: Periods
    }

    /// Numbers become a row by `output(activation(hidden(x))) + residual(x)`, each matrix with a bias
    /// (https://github.com/amazon-science/chronos-forecasting, `ResidualBlock`).
    struct Patches: Sendable, Hashable {
        /// Numbers that make a row.
        var count: Int
        /// Outputs of the hidden matrix.
        var width: Int
        var activation: Activation
    }

    /// Masks have rows of zeros, and a text's other rows are scaled to the sum that they had in training
    /// (https://doi.org/10.1126/science.ade2574, as in transformers' `EsmEmbeddings`).
    struct Masking: Sendable, Hashable {
        /// The mask's id.
        var id: Int
        /// The share of tokens that were not masks in training.
        var kept: Float = 1 - 0.15 * 0.8
    }

    /// A norm (RMS, https://arxiv.org/abs/1910.07467, or layer norm, https://arxiv.org/abs/1607.06450).
    struct Norm: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            /// - Parameter offset: added to the stored weight: 1 for Gemma.
            case rms(offset: Float)
            /// - Parameter offset: added to the stored weight: 1 for Nemotron.
            case layer(hasBias: Bool, offset: Float = 0)
            /// Nothing is normalised: a factor and, if there is one, a bias for each number.
            case affine(hasBias: Bool)
        }
        var kind = Kind.rms(offset: 0)
        var epsilon: Float
        /// Whether it has a weight; otherwise numbers are only normalised.
        var hasWeight = true

        var hasBias: Bool {
            switch kind {
            case .rms: false
            case .layer(let hasBias, _): hasBias
            case .affine(let hasBias): hasBias
            }
        }
    }

    /// How the last rows become outputs: logits of the vocabulary, or scores of labels.
    struct Head: Sendable, Hashable {
        /// Which rows of a text it takes.
        enum Rows: Sendable, Hashable {
            case each, first, mean, last
            /// The mean of the rows of squares of a picture, before the last norm,
            case meanOfSquares
            /// or after it.
            case meanOfNormedSquares
            /// A learned query attends to all.
            case attended(AttentionPooling)
            /// The first, and behind it the mean of the rows of squares of a picture.
            case firstAndMean
            /// Each, and the mean of their outputs is the text's.
            case meanOfOutputs
        }
        enum Outputs: Sendable, Hashable {
            case vocabulary
            case labels(LabelSettings)
            /// So many numbers that are the result themselves.
            case values(Int)
        }
        /// A layer before the outputs: a matrix, an activation, a norm.
        struct Dense: Sendable, Hashable {
            /// Its outputs.
            var width: Int
            var hasBias = true
            var activation: Activation?
            var norm: Norm?
        }

        var rows = Rows.each
        /// Of what the rows give, before everything else; nil for none.
        var norm: Norm?
        /// nil for none.
        var dense: Dense?
        /// Whether the matrix of the outputs is the embedding table.
        var isTied = false
        /// Whether there is a matrix of the outputs; otherwise they are what it takes.
        var hasMatrix = true
        /// Inputs, the last ones, for which the table is too narrow: they have a matrix of their own.
        var rest = 0
        var hasBias = false
        /// Whether a matrix of the rows before ``dense``, with a bias, is added to the outputs.
        var hasResidual = false
        var outputs = Outputs.vocabulary
        /// Whether what the outputs are made of is a picture's vector; otherwise that is its first row.
        var takesVectors = false
        /// Logits become `cap * tanh(logit / cap)`; 0 for none.
        var cap: Float = 0
        /// Factor of the logits.
        var scale: Float = 1

        /// The numbers that it takes, of rows of a width.
        func inputWidth(_ width: Int) -> Int { rows == .firstAndMean ? 2 * width : width }

        /// Whether it has any of its own.
        var hasTensors: Bool {
            !isTied && hasMatrix || hasBias || norm != nil || dense != nil || rest > 0 || attention != nil
        }

        var attention: AttentionPooling? { if case .attended(let attention) = rows { attention } else { nil } }
    }

    /// A layer: attention or a recurrence, or both of the same rows, then a feed-forward block, each with its norms around it.
    /// Any may be missing.
    struct Layer: Sendable, Hashable {
        var attention: Attention?
        /// Attention to the encoder's rows, after the layer's own.
        var crossAttention: Attention?
        /// Attention between the series of a group at one position, after the layer's own. A series alone sees itself only.
        var groupAttention: Attention?
        /// In the place of attention, or beside it.
        var recurrence: Recurrence?
        var feedForward: FeedForward?
        /// In place of the feed-forward block, or beside it; nil for none.
        var experts: Experts?
        var norms: Norms
        var norm: Norm
        /// What multiplies each number that a half adds (layer scale, https://arxiv.org/abs/2103.17239); nil for nothing.
        var scale: Norm?
        /// Factor of what a half adds,
        var added: Float = 1
        /// and one of each block.
        var factors = Factors()
        /// Whether attention has the norm before it that ``norms`` says: in ModernBERT, the first layer has none.
        var hasAttentionNorm = true
        /// Feed-forward blocks like the last one, before it.
        var earlierFeedForwards = 0
        /// nil where its halves are as wide as the model.
        var bottleneck: Bottleneck?
        /// The rank of a matrix beside attention; nil for none.
        var detourRank: Int?
        /// Whether a stored number multiplies the rows after it.
        var hasFactor = false
    }

    /// Factors of what a layer's blocks make.
    struct Factors: Sendable, Hashable {
        var attention: Float = 1
        var recurrence: Float = 1
        var feedForward: Float = 1
    }

    /// A matrix with a norm makes the rows narrower for the layer's halves, and another one wide again, which is added to
    /// what came in (https://arxiv.org/abs/2004.02984).
    struct Bottleneck: Sendable, Hashable {
        var width: Int
        /// Whether queries and keys are made of other narrow rows, by a matrix and a norm of their own, and values of the
        /// wide ones.
        var hasQueries: Bool
    }

    /// Where a layer's norms stand.
    enum Norms: Sendable, Hashable {
        /// Before each half: `x + f(norm(x))`.
        case before
        /// Before and after each half: `x + norm(f(norm(x)))`.
        case around
        /// After each half and its addition: `norm(x + f(x))`.
        case after
        /// After each half alone: `x + norm(f(x))`.
        case inside
        /// Before both halves, which take the same rows: `x + attention(norm(x)) + mlp(norm(x))`.
        ///
        /// - Parameter sharesNorm: whether the norm is one, and not each half's own.
        case parallel(sharesNorm: Bool)
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
        /// Positions that it sees, itself included; nil for all. An encoder sees as many after it.
        var window: Int?
        /// nil for none.
        var rotary: Rotary?
        /// Of queries and keys, before the rotation; nil for none.
        var headNorm: Norm?
        /// What it normalises at once.
        var headNormSpan = HeadNormSpan.head
        /// Whether it comes after the rotation.
        var isNormedLast = false
        /// Queries and keys after a norm before the rotation, and values, are kept within this to both sides; nil for no
        /// limit.
        var limit: Float?
        /// What makes queries of late positions larger; nil for nothing.
        var temperature: Temperature?
        /// Whether queries, keys and values have biases.
        var hasInputBias = false
        /// Whether keys have one; nil for as the others.
        var hasKeyBias: Bool?
        var hasOutputBias = false
        /// Whether its result is multiplied, number by number, with the sigmoid of a projection of its input.
        var hasOutputGate = false
        /// Epsilon of an RMS norm of values, per head, which has no weight; nil for none.
        var valueNorm: Float?
        /// Whether values are the projected keys, before their norm and rotation.
        var hasKeysAsValues = false
        /// Whether each head has a logit beside the scores that takes its part of the softmax and gives nothing
        /// (https://arxiv.org/abs/2309.17453).
        var hasSinks = false
        /// nil where each head has keys and values of its own. Otherwise the cache has one head of latents, whose width is
        /// ``headSize``, and the heads are those of queries.
        var latent: Latent?
        /// The earlier layer whose keys and values it reads; nil where it has its own.
        var source: Int?

        /// Whether values have a matrix of their own.
        var hasOwnValues: Bool { source == nil && !hasKeysAsValues }
        var queryWidth: Int { heads * headSize }
        var keyWidth: Int { kvHeads * headSize }
    }

    /// What a norm of queries or keys normalises at once.
    enum HeadNormSpan: Sendable, Hashable {
        /// Each head, all with one weight.
        case head
        /// Each head with a weight of its own.
        case each
        /// All heads.
        case width
    }

    /// Queries are multiplied by `1 + factor * log(1 + floor(position / positions))` (transformers' `Ministral3Attention`).
    struct Temperature: Sendable, Hashable {
        var positions: Int
        var factor: Float
    }

    enum Activation: Sendable, Hashable { case silu, gelu, geluTanh, quickGelu, relu, squaredRelu, tanh, clamped }

    struct FeedForward: Sendable, Hashable {
        var width: Int
        var activation: Activation
        /// `down(activation(gate(x)) * up(x))`; otherwise `down(activation(up(x)))`.
        var isGated: Bool
        /// Of the gate, before the activation.
        var gateFactor: Float = 1
        /// Whether the file has the numbers of an xIELU (https://arxiv.org/abs/2411.13010), which a plain block has in place
        /// of ``activation``.
        var hasXIELU = false
        /// The share of gates that are cut off, as if they were normally distributed: what is above the cutoff goes on
        /// (transformers' `Gemma3nTextMLP`).
        var sparsity = 0.0
        var hasBias = false
        /// Whether `down` has a bias; nil for as the others.
        var hasOutputBias: Bool?
    }

    /// A rotary embedding (https://arxiv.org/abs/2104.09864).
    struct Rotary: Sendable, Hashable {
        var base: Double
        /// Coordinates of a head that rotate, the first ones.
        var rotated: Int
        /// Whether coordinates 2i and 2i + 1 are a pair, as in llama.cpp's Llama; otherwise i and i + rotated / 2.
        var isAdjacent = false
        var scaling = Scaling.none
        /// Whether squares of pictures turn, by how far down and across they are, and other rows do not.
        var isOfSquares = false
        /// Whether a tensor of the file divides the frequencies: GGUF's way to write ``Scaling/llama3``.
        var hasFactors = false
    }
}

extension ModelDescription {
    /// Of a classifier, or of what finds objects; nil for another model.
    var labels: LabelSettings? {
        if case .labels(let labels) = head?.outputs { labels } else { detection?.labels }
    }

    /// Whether the head's outputs are the vector of a text or a picture.
    var hasVectorHead: Bool { if case .values = head?.outputs { forecast == nil } else { false } }

    /// The length of the vectors of texts or pictures, before what other files add.
    var vectorWidth: Int { hasVectorHead ? outputs : width }

    /// The number of outputs of a row; 0 without a head.
    var outputs: Int {
        switch head?.outputs {
        case .vocabulary: vocabulary
        case .labels(let labels): labels.count
        case .values(let count): count
        case nil: 0
        }
    }
}
