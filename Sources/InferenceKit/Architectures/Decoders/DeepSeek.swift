import HubCore
import ModelFormats
import Libc

/// DeepSeek 2 (https://arxiv.org/abs/2405.04434), 3 (https://arxiv.org/abs/2412.19437) and R1, Kimi K2, and GLM 4.7 Flash:
/// latent attention, and after the first layers mixtures of many small experts beside a shared one.
extension Architecture {
    static let deepSeek = Architecture(
        "DeepSeek 2 and 3", ["deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe_lite"], gguf: ["deepseek2"],
        classes: .decoder("DeepseekV3") + .decoder("DeepseekV2") + .decoder("Glm4MoeLite"), names: .deepSeek,
        ggufTensors: .deepSeekGGUF
    ) { settings throws(AIError) in
        let attention = try settings.latentAttention()
        var model = try settings.decoder(headSize: attention.latent?.rotated)
        for index in model.layers.indices { model.layers[index].attention = attention }
        guard settings.configuration.experts != nil || !settings.isGGUF else { return model }
        let type = settings.configuration.modelType
        let routing =
            if settings.isGGUF {
                try settings.storedRouting(usual: settings.isFlash ? 2 : 1)
            } else if type == "deepseek_v2" {
                try settings.greedyRouting()
            } else {
                try settings.correctedRouting(
                    factor: type == "glm4_moe_lite" ? 1.8 : 2.5, groups: type == "deepseek_v3" ? 8 : 1)
            }
        let experts = try settings.experts(shared: "n_shared_experts", routing)
        let usual = settings.isGGUF || type == "deepseek_v2" ? 0 : type == "glm4_moe_lite" ? 1 : 3
        let isSparse = try settings.sparseLayers(model.layers.count, dense: usual)
        model.mix(experts) { isSparse[$0] }
        return model
    }
}

extension TensorNames {
    fileprivate static let deepSeek = corrected.with([
        .queryDown: "self_attn.q_a_proj", .queryDownNorm: "self_attn.q_a_layernorm",
        .queryUp: "self_attn.q_b_proj", .latent: "self_attn.kv_a_proj_with_mqa",
        .latentNorm: "self_attn.kv_a_layernorm", .latentUp: "self_attn.kv_b_proj",
        // MLX.
        .latentKeys: "self_attn.embed_q", .latentValues: "self_attn.unembed_out",
    ])
    fileprivate static let deepSeekGGUF: TensorNames = {
        var names = correctedGGUF.with([
            .queryDown: "attn_q_a", .queryDownNorm: "attn_q_a_norm", .queryUp: "attn_q_b",
            .latent: "attn_kv_a_mqa", .latentNorm: "attn_kv_a_norm", .latentUp: "attn_kv_b",
            .latentKeys: "attn_k_b", .latentValues: "attn_v_b",
        ])
        names.ignored = [".attn_k_b.weight", ".attn_v_b.weight"]
        return names
    }()

    /// Those of mixtures whose choice a bias corrects.
    static let corrected: TensorNames = {
        var names = llama.with([
            .sharedGate: "mlp.shared_experts.gate_proj", .sharedUp: "mlp.shared_experts.up_proj",
            .sharedDown: "mlp.shared_experts.down_proj",
        ])
        names.plainBiases[.choiceBias] = "mlp.gate.e_score_correction_bias"
        return names
    }()
    static let correctedGGUF = gguf.with([.choiceBias: "exp_probs_b"])
}

extension Settings {
    /// - Throws: ``ErrorCode/malformedModel`` for a missing size.
    fileprivate mutating func latentAttention() throws(AIError) -> ModelDescription.Attention {
        func size(_ name: String, _ told: Int? = nil) throws(AIError) -> Int {
            try need(told ?? count(name), name)
        }
        let heads = try need(configuration.heads, "num_attention_heads")
        let (rank, rotated) = (try size("kv_lora_rank"), try size("qk_rope_head_dim"))
        // GGUF tells the length of a key, and since 2025 there is another of one as it is cached.
        let whole = isGGUF ? count("qk_head_dim") ?? count("head_dim") : nil
        let plain = try size("qk_nope_head_dim", whole.map { $0 - rotated })
        guard plain > 0 else { throw .malformed(path, "no part of a key stands still") }
        for (name, number) in [("kv_lora_rank", rank), ("qk_rope_head_dim", rotated), ("qk_nope_head_dim", plain)]
        where number > 65_536 {
            throw .malformed(path, "\(name) is \(number), more than 65536")
        }
        let isMLX = stores("model.layers.0.self_attn.embed_q.weight") ?? false
        let latent = ModelDescription.Latent(
            rank: rank, queryRank: countIfAny("q_lora_rank"), plain: plain, rotated: rotated,
            valueSize: try size("v_head_dim", isGGUF ? count("v_head_dim") ?? count("value_length") : nil),
            // Some GGUF files have it both ways.
            isSplit: isGGUF ? stores("blk.0.attn_kv_b.weight") != true : isMLX,
            hasBias: flag("attention_bias") ?? false,
            // transformers gives these the usual epsilon, whatever that of the others is.
            norm: .init(epsilon: 1e-6))
        var rotary = try rotary(headSize: rotated)
        guard rotary.rotated == rotated else {
            throw .malformed(path, "\(rotary.rotated) coordinates rotate, and qk_rope_head_dim is \(rotated)")
        }
        // DeepSeek 2 knows no other way.
        rotary.isAdjacent =
            isGGUF || configuration.modelType == "deepseek_v2" || flag("rope_interleave") ?? true
        return ModelDescription.Attention(
            heads: heads, kvHeads: 1, headSize: rank + rotated,
            scale: Float(try scalingFactor() / Double(plain + rotated).squareRoot()), rotary: rotary,
            hasOutputBias: latent.hasBias, latent: latent)
    }

    /// GLM 4.7 Flash, whose GGUF files came before the setting for scores.
    fileprivate var isFlash: Bool {
        [47, 48].contains(configuration.layers) && configuration.vocabulary == 154_880
    }

    /// What scores are multiplied by in a context longer than the model was trained with.
    private func scalingFactor() throws(AIError) -> Double {
        let scope = rope
        let type = scope.text("rope_type") ?? scope.text("type") ?? "default"
        guard type != "default", let weight = scope.number("mscale_all_dim"), weight != 0 else { return 1 }
        guard let factor = scope.number("factor") else {
            throw .malformed(path, "rope_scaling has mscale_all_dim and no factor")
        }
        let scale = factor <= 1 ? 1 : 0.1 * weight * log(factor) + 1
        return scale * scale
    }

    /// That of DeepSeek 2.
    fileprivate mutating func greedyRouting() throws(AIError) -> ModelDescription.Routing {
        expect("scoring_func", "softmax")
        if flag("mlp_bias") == true { refuse("mlp_bias") }
        // Its own code divides the weights then and drops their factor; transformers does neither.
        if flag("norm_topk_prob") == true { refuse("norm_topk_prob") }
        var routing = ModelDescription.Routing(factor: Float(number("routed_scaling_factor") ?? 1))
        switch text("topk_method") ?? "greedy" {
        case "greedy": break
        case "group_limited_greedy":
            routing.groups = .init(
                count: try need(count("n_group"), "n_group"), used: try need(count("topk_group"), "topk_group"),
                counted: 1)
        case let method: refuse("topk_method", method)
        }
        return routing
    }
}
