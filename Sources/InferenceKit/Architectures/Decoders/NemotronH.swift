import HubCore
import ModelFormats

/// Nemotron-H (https://arxiv.org/abs/2504.03624) and Nemotron 3 Nano: layers with one half each, Mamba 2, attention without
/// rotation, a feed-forward block of squared ReLU, or a mixture of such.
extension Architecture {
    static let nemotronH = Architecture(
        "Nemotron-H", ["nemotron_h"], gguf: ["nemotron_h"], classes: .decoder("NemotronH"), names: .nemotronH,
        ggufTensors: .nemotronHGGUF
    ) { settings throws(AIError) in try settings.nemotronH() }

    /// The mixtures as GGUF files; elsewhere they have the name of all.
    static let nemotronHMoe = Architecture(
        "Nemotron-H with experts", [], gguf: ["nemotron_h_moe"], classes: .decoder("NemotronH"),
        ggufTensors: .nemotronHGGUF
    ) { settings throws(AIError) in try settings.nemotronH() }
}

extension TensorNames {
    fileprivate static let nemotronHGGUF = mamba2GGUF.with([
        .feedForwardNorm: "attn_norm", .choiceBias: "exp_probs_b",
    ])

    fileprivate static let nemotronH: TensorNames = {
        var names = TensorNames(
            prefix: "backbone.", layer: "layers.",
            stems: [
                .embedding: "embeddings", .finalNorm: "norm_f", .head: "lm_head", .attentionNorm: "norm",
                .feedForwardNorm: "norm", .query: "mixer.q_proj", .key: "mixer.k_proj", .value: "mixer.v_proj",
                .attentionOutput: "mixer.o_proj", .recurrentInput: "mixer.in_proj", .convolution: "mixer.conv1d",
                .recurrentRate: "mixer.A_log", .recurrentStepBias: "mixer.dt_bias", .recurrentSkip: "mixer.D",
                .recurrentNorm: "mixer.norm", .recurrentOutput: "mixer.out_proj", .up: "mixer.up_proj",
                .down: "mixer.down_proj", .router: "mixer.gate", .sharedUp: "mixer.shared_experts.up_proj",
                .sharedDown: "mixer.shared_experts.down_proj",
            ])
        names.plain = [.recurrentRate, .recurrentStepBias, .recurrentSkip]
        names.plainBiases[.choiceBias] = "mixer.gate.e_score_correction_bias"
        names.experts = [
            ExpertNames(gate: "", up: "mixer.experts.#.up_proj", down: "mixer.experts.#.down_proj"),
            ExpertNames(gate: "", up: "mixer.experts.up_proj", down: "mixer.experts.down_proj", ending: ""),
        ]
        // Layers that guess further tokens.
        names.heads = ["mtp."]
        return names
    }()
}

extension Settings {
    fileprivate mutating func nemotronH() throws(AIError) -> ModelDescription {
        var model = try decoder()
        let kinds = try halves(model.layers.count)
        let stored = configuration.rmsNormEpsilon ?? epsilon("layer_norm_eps")
        let epsilon = isGGUF ? stored : epsilon("layer_norm_epsilon")
        let norm = ModelDescription.Norm(epsilon: Float(epsilon ?? 1e-5))
        let space = kinds.contains("M") ? try stateSpace(norm, .nemotronH) : nil
        let experts = kinds.contains("E") ? try plainExperts() : nil
        let activation = activation(text("mlp_hidden_act"), default: .squaredRelu)
        model.finalNorm = norm
        for (index, kind) in kinds.enumerated() {
            var layer = model.layers[index]
            let (attention, block) = (layer.attention, layer.feedForward)
            (layer.attention, layer.feedForward, layer.norm) = (nil, nil, norm)
            switch kind {
            case "M": layer.recurrence = space.map { .space($0) }
            case "E": layer.experts = experts
            case "*":
                layer.attention = attention
                layer.attention?.rotary = nil
                layer.attention?.hasInputBias = false
                layer.attention?.hasOutputBias = false
            default:
                layer.feedForward = block
                layer.feedForward?.activation = activation
                layer.feedForward?.isGated = false
            }
            model.layers[index] = layer
        }
        return model
    }

    /// What each layer is: Mamba (M), attention (*), a block (-), experts (E).
    fileprivate mutating func halves(_ count: Int) throws(AIError) -> [Character] {
        let known: [String: Character] = [
            "linear_attention": "M", "mamba": "M", "full_attention": "*", "attention": "*", "mlp": "-", "moe": "E",
        ]
        // In GGUF, layers that guess further tokens are listed, too.
        let listed =
            texts("layers_block_type") ?? texts("layer_types").map { isGGUF ? Array($0.prefix(count)) : $0 }
        let kinds = listed?.map { known[$0] ?? "?" } ?? Array(text("hybrid_override_pattern") ?? "")
        guard kinds.count == count else {
            throw .malformed(path, "hybrid_override_pattern has \(kinds.count) layers, not \(count)")
        }
        guard kinds.allSatisfy("M*-E".contains) else {
            throw .malformed(path, "hybrid_override_pattern has other kinds of layers than M, *, - and E")
        }
        return kinds
    }

    /// Experts without gates.
    fileprivate mutating func plainExperts() throws(AIError) -> ModelDescription.Experts {
        if has("moe_latent_size") { refuse("moe_latent_size") }
        if flag("mlp_bias") == true { refuse("mlp_bias") }
        var experts = try experts(width: count("moe_intermediate_size"), try correctedRouting(factor: 1, groups: 1))
        experts.activation = activation(text("mlp_hidden_act"), default: .squaredRelu)
        experts.isGated = false
        let name = isGGUF ? "shared_expert_intermediate_size" : "moe_shared_expert_intermediate_size"
        let shared = try need(count(name), name)
        experts.shared = .init(width: shared)
        return experts
    }
}
