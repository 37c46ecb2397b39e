import HubCore
import ModelFormats

/// LFM2 (https://arxiv.org/abs/2511.23404): most layers have a short gated convolution in place of attention. The MoE has
/// experts in all layers but the first.
extension Architecture {
    static let lfm2 = Architecture(
        "LFM2", ["lfm2"], gguf: ["lfm2"],
        classes: .decoder("Lfm2") + [.generator("LFM2ForCausalLM")], names: .lfm2, ggufTensors: .lfm2GGUF
    ) { settings throws(AIError) in
        var model = try settings.lfm2()
        let width = try settings.adjustedWidth()
        model.eachFeedForward { $0.width = width }
        return model
    }

    static let lfm2Moe = Architecture(
        "LFM2 MoE", ["lfm2_moe"], gguf: ["lfm2moe"],
        classes: .decoder("Lfm2Moe") + [.generator("LFM2MoeForCausalLM")], names: .lfm2,
        ggufTensors: .lfm2GGUF
    ) { settings throws(AIError) in
        var model = try settings.lfm2()
        let isGGUF = settings.isGGUF
        // llama.cpp knows no other routing.
        var routing = ModelDescription.Routing(
            scores: .sigmoid, renormalizes: isGGUF || settings.flag("norm_topk_prob") ?? true,
            factor: Float(settings.number("routed_scaling_factor") ?? 1))
        routing.hasChoiceBias = isGGUF || settings.flag("use_expert_bias") ?? true
        routing.leastSum = 1e-6
        let experts = try settings.experts(width: settings.expertWidth, routing)
        let dense = isGGUF ? settings.place("first_k_dense_replace") ?? 0 : settings.place("num_dense_layers") ?? 2
        model.mix(experts) { $0 >= dense }
        return model
    }
}

extension TensorNames {
    fileprivate static let lfm2: TensorNames = {
        let block = "feed_forward."
        var names = llama.with([
            .finalNorm: "embedding_norm", .attentionNorm: "operator_norm", .feedForwardNorm: "ffn_norm",
            .attentionOutput: "self_attn.out_proj", .queryNorm: "self_attn.q_layernorm",
            .keyNorm: "self_attn.k_layernorm", .recurrentInput: "conv.in_proj", .convolution: "conv.conv",
            .recurrentOutput: "conv.out_proj", .gate: block + "w1", .up: block + "w3", .down: block + "w2",
            .router: block + "gate",
        ])
        names.plainBiases[.choiceBias] = block + "expert_bias"
        let each = block + "experts.#."
        names.experts = [
            ExpertNames(gate: each + "w1", up: each + "w3", down: each + "w2"),
            ExpertNames(
                gate: block + "experts.gate_up_proj", up: block + "experts.gate_up_proj",
                down: block + "experts.down_proj", ending: ""),
            .mlx("feed_forward"),
        ]
        return names
    }()

    fileprivate static let lfm2GGUF = gguf.with([
        .finalNorm: "token_embd_norm", .recurrentInput: "shortconv.in_proj", .convolution: "shortconv.conv",
        .recurrentOutput: "shortconv.out_proj", .choiceBias: "exp_probs_b",
    ])
}

extension Settings {
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    fileprivate mutating func lfm2() throws(AIError) -> ModelDescription {
        var model = try decoder(isTied: true)
        let epsilon = isGGUF ? configuration.rmsNormEpsilon : epsilon("norm_eps")
        let norm = ModelDescription.Norm(epsilon: Float(epsilon ?? 1e-5))
        model.setNorms(norm)
        if let told = flag("tie_embedding"), !isGGUF { model.head?.isTied = told }
        let rotary = try rotary(headSize: model.layers[0].attention?.headSize ?? 0, base: 1_000_000)
        // Its class has no setting for another activation, nor biases in attention.
        model.eachFeedForward { ($0.activation, $0.hasBias) = (.silu, false) }
        model.eachAttention {
            ($0.headNorm, $0.rotary) = (norm, rotary)
            ($0.hasInputBias, $0.hasOutputBias) = (false, false)
        }
        let isMLX = configuration.quantization?.isMLX == true
        let convolution = ModelDescription.Convolution(
            channels: model.width, taps: try size(value("conv_L_cache"), "conv_L_cache") ?? 3,
            hasBias: has(bias: "conv_bias", of: "shortconv.conv"),
            layout: isGGUF ? .plain : isMLX ? .mlx : .torch)
        let kinds = configuration.layerKinds
        guard kinds.isEmpty || kinds.count == model.layers.count else {
            throw .malformed(path, "layer_types has \(kinds.count) kinds for \(model.layers.count) layers")
        }
        for (index, kind) in kinds.enumerated() where kind != "full_attention" {
            model.layers[index].attention = nil
            model.layers[index].recurrence = .shortConvolution(convolution)
        }
        return model
    }

    /// The width of feed-forward blocks, which is adjusted as Llama's was (https://arxiv.org/abs/2302.13971).
    fileprivate func adjustedWidth() throws(AIError) -> Int {
        var width = try need(configuration.intermediateSize, "intermediate_size")
        guard !isGGUF, flag("block_auto_adjust_ff_dim") ?? true else { return width }
        width = 2 * width / 3
        let multiplier = number("block_ffn_dim_multiplier") ?? 1
        let product = multiplier * Double(width)
        guard product >= 1, product <= Double(Int32.max) else {
            throw .malformed(path, "block_ffn_dim_multiplier is \(multiplier)")
        }
        let unit = try size(value("block_multiple_of"), "block_multiple_of") ?? 256
        return unit * ((Int(product) + unit - 1) / unit)
    }
}
