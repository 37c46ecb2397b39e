/// What a tensor is for.
enum TensorRole: Sendable, Hashable {
    // Of the model.
    case embedding, positions, tokenTypes, embeddingNorm, embeddingProjection, finalNorm, rotaryFactors,
        longFactors, shortFactors
    case distances, distancesNorm, squareDistances
    case streamInput(Int), streamOutput(Int)
    case layerTable, layerProjection, layerProjectionNorm
    case patchHidden, patchOutput, patchResidual
    /// Of pictures: the matrix of squares of pixels, and learned rows.
    case patchKernel, classToken, distillationToken, registers, detectionTokens
    /// Positions that are added to the rows between layers.
    case layerPositions
    /// Of objects: the layers that make labels, and those that make boxes, of the rows that look for them.
    case objectLabels(Int), objectBoxes(Int)
    case headInputNorm, headDense, headNorm, head, headRest, headResidual
    /// Of attention pooling: the learned query, and the block behind it.
    case poolingProbe, poolingQuery, poolingKey, poolingValue, poolingOutput, poolingNorm, poolingUp, poolingDown
    /// Of vectors of texts and of pictures in one space.
    case logitScale, logitBias
    // Of a layer.
    case attentionNorm, query, key, value, attentionOutput, queryNorm, keyNorm, attentionPostNorm, sinks
    case distanceKey, distanceQuery
    case crossNorm, crossQuery, crossKey, crossValue, crossOutput, crossPostNorm
    case groupNorm, groupValue, groupOutput
    case outputGate
    /// Of a recurrence: queries, keys and values before the convolution; what gates the result; time steps, and how
    /// strongly a value is learned.
    case recurrentInput, recurrentGate, recurrentStep, recurrentBeta, convolution
    case recurrentRate, recurrentStepBias, recurrentNorm, recurrentSkip, recurrentOutput
    /// Of Mamba: what time steps are made of, what writes to the state and what reads it; and their norms.
    case recurrentParts, recurrentStepNorm, recurrentWriteNorm, recurrentReadNorm
    case feedForwardNorm, gate, up, down, feedForwardPostNorm
    case positiveSlope, negativeSlope, commonSlope, largestExponent
    case detourLeft, detourRight, detourNorm
    case streamRouter, streamRouterNorm, streamPrediction, streamCorrection, streamScale
    case layerGate, layerOutput, layerNorm, layerFactor
    // Of latent attention.
    case queryDown, queryDownNorm, queryUp, latent, latentNorm, latentUp, latentKeys, latentValues
    // Of a mixture; those of experts are of all of a layer's.
    case router, routerNorm, expertFactors, choiceBias, expertGate, expertUp, expertDown
    case denseNorm, expertsNorm, expertsPostNorm
    case sharedGate, sharedUp, sharedDown, sharedScore
    /// Of the encoder before a decoder.
    indirect case encoder(TensorRole)
    /// Of the model that reads pictures beside one that reads texts.
    indirect case tower(TensorRole)
    /// Of a feed-forward block before the last one.
    case earlierUp(Int), earlierDown(Int), earlierNorm(Int)
    case bottleneckInput, bottleneckInputNorm, bottleneckQuery, bottleneckQueryNorm, bottleneckOutput,
        bottleneckOutputNorm
}

/// Where an architecture's files keep each tensor.
///
/// A name is a stem: `.weight` and `.bias` follow.
struct TensorNames: Sendable, Hashable {
    /// Before every name but those in ``outside``: `model.`. A checkpoint of the bare decoder has none.
    var prefix = ""
    /// Before the number of a layer: `layers.`
    var layer: String
    /// The name of each tensor; those of a layer without its number.
    var stems: [TensorRole: String]
    /// Names without ``prefix``.
    var outside: Set<TensorRole> = [.head]
    /// The stems of biases that are not beside their weights.
    var biases: [TensorRole: String] = [:]
    /// The names of biases that have no ending.
    var plainBiases: [TensorRole: String] = [:]
    /// Tensors whose names have no ending.
    var plain: Set<TensorRole> = []
    /// Tensors whose stems end where the ending begins: `in_proj_`, of `in_proj_weight`.
    var joined: Set<TensorRole> = []
    /// Tensors that are stored as one, by the first of them: one above the other in this order.
    var packed: [[TensorRole]] = []
    /// Where the matrices of experts may be; the first that a file has counts.
    var experts: [ExpertNames] = []
    /// Matrices of one row that are stored as vectors.
    var vectors: Set<TensorRole> = []
    /// The tensors of the first layer that tell a file with these names from one with others.
    var marks: [TensorRole] = [.query, .up]
    /// Whether packed tensors are so group by group of heads that share a key.
    var isPackedByHead = false
    /// Whether matrices of layers are stored turned, inputs by outputs.
    var isTransposed = false
    /// Matrices outside of the layers that are.
    var turned: Set<TensorRole> = []
    /// Endings of tensors that are not weights: masks and frequencies.
    var ignored: [String] = []
    /// Starts of names, prefix aside, of heads that are not run.
    var heads: [String] = []
    /// The names of the encoder's tensors, prefix and all; none for a decoder alone.
    var encoders: [TensorNames] = []

    /// Those of the model that reads pictures beside it; none for a model of one side.
    var towers: [TensorNames] = []
    /// Whether a tower's names have nothing before their prefix, whatever those of the texts have.
    var isAtRoot = false

    /// What every model with these names has outside of its layers: the table of tokens, or the matrix of squares.
    var firstRole: TensorRole { stems[.embedding] == nil ? .patchKernel : .embedding }

    /// Whether a matrix is stored turned.
    func isTurned(_ role: TensorRole, layer: Int?) -> Bool {
        if case .encoder(let inner) = role { return encoders[0].isTurned(inner, layer: layer) }
        if case .tower(let inner) = role { return towers[0].isTurned(inner, layer: layer) }
        return layer == nil ? turned.contains(role) : isTransposed
    }

    /// The same with the one way of naming experts that a file has.
    func choosingExperts(_ stored: Set<String>?) -> TensorNames {
        var names = self
        let found = stored.flatMap { stored in experts.first { $0.isStored(stored) } }
        names.experts = [found ?? experts.first].compactMap { $0 }
        return names
    }

    /// The same with other names for some tensors.
    func with(_ stems: [TensorRole: String]) -> TensorNames {
        var names = self
        names.stems.merge(stems) { $1 }
        return names
    }

    /// The names of Llama and its many relatives in transformers.
    static let llama = TensorNames(
        prefix: "model.", layer: "layers.",
        stems: [
            .embedding: "embed_tokens", .finalNorm: "norm", .head: "lm_head",
            .attentionNorm: "input_layernorm", .query: "self_attn.q_proj", .key: "self_attn.k_proj",
            .value: "self_attn.v_proj", .attentionOutput: "self_attn.o_proj", .queryNorm: "self_attn.q_norm",
            .keyNorm: "self_attn.k_norm", .feedForwardNorm: "post_attention_layernorm", .gate: "mlp.gate_proj",
            .up: "mlp.up_proj", .down: "mlp.down_proj", .router: "mlp.gate",
            .sharedGate: "mlp.shared_expert.gate_proj", .sharedUp: "mlp.shared_expert.up_proj",
            .sharedDown: "mlp.shared_expert.down_proj", .sharedScore: "mlp.shared_expert_gate",
        ],
        experts: [.each, .together, .mlx()],
        // Old checkpoints store the frequencies; here they are computed from the configuration.
        ignored: ["rotary_emb.inv_freq"])

    /// The same with norms of what a half adds alone.
    static let normsInside = llama.with([
        .attentionPostNorm: "post_attention_layernorm", .feedForwardPostNorm: "post_feedforward_layernorm",
    ])

    /// The names in GGUF, of all architectures but for few exceptions.
    /// https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py (`TENSOR_NAMES`)
    static let gguf = TensorNames(
        layer: "blk.",
        stems: [
            .embedding: "token_embd", .positions: "position_embd", .tokenTypes: "token_types",
            .embeddingNorm: "token_embd_norm", .finalNorm: "output_norm", .head: "output",
            .rotaryFactors: "rope_freqs", .longFactors: "rope_factors_long", .shortFactors: "rope_factors_short",
            .attentionNorm: "attn_norm", .query: "attn_q", .key: "attn_k", .value: "attn_v",
            .attentionOutput: "attn_output", .queryNorm: "attn_q_norm", .keyNorm: "attn_k_norm",
            .attentionPostNorm: "post_attention_norm", .feedForwardNorm: "ffn_norm", .gate: "ffn_gate",
            .up: "ffn_up", .down: "ffn_down", .feedForwardPostNorm: "post_ffw_norm", .router: "ffn_gate_inp",
            .sharedGate: "ffn_gate_shexp", .sharedUp: "ffn_up_shexp", .sharedDown: "ffn_down_shexp",
            .sharedScore: "ffn_gate_inp_shexp",
        ], experts: [.gguf, .oldGGUF], vectors: [.sharedScore])

    /// The same with queries, keys and values in one tensor.
    static let packedGGUF: TensorNames = {
        var names = gguf.with([.query: "attn_qkv"])
        names.packed = [[.query, .key, .value]]
        return names
    }()
}
