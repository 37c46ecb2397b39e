import HubCore
import ModelFormats

/// Gemma 4, the text side (https://ai.google.dev/gemma/docs/core, transformers' `Gemma4TextModel`): norms with plain
/// weights, also of queries, keys and values, layers that see everything with other heads than those with a window,
/// last layers that read the keys and values of earlier ones, and in small models rows of tokens for each layer.
extension Architecture {
    static let gemma4 = Architecture(
        "Gemma 4", ["gemma4_text", "gemma4", "gemma4_unified_text", "gemma4_unified"], gguf: ["gemma4"],
        classes: ["Gemma4", "Gemma4Unified"].flatMap {
            [
                .generator("\($0)ForCausalLM"), .generator("\($0)ForConditionalGeneration"),
                .base("\($0)TextModel"),
            ]
        }, names: .gemma4, ggufTensors: .gemma4GGUF
    ) { settings throws(AIError) in
        var model = try settings.gemma(normOffset: 0, isUneven: true)
        try settings.shape(&model)
        model.layerInputs = try settings.layerInputs(model, width: settings.isUnified || settings.isGGUF ? 0 : 256)
        if let rows = model.layerInputs?.vocabulary, rows < model.vocabulary {
            throw .malformed(settings.path, "vocab_size_per_layer_input is \(rows), less than vocab_size")
        }
        if settings.value("use_bidirectional_attention")?.string == "all" {
            settings.refuse("use_bidirectional_attention", "all")
        }
        let hasExperts =
            settings.isGGUF ? settings.configuration.experts != nil : settings.flag("enable_moe_block") == true
        if hasExperts { try settings.addExperts(to: &model) }
        return model
    }
}

extension TensorNames {
    fileprivate static let gemma4: TensorNames = {
        var names = gemmaInputs.with([
            .layerFactor: "layer_scalar", .denseNorm: "post_feedforward_layernorm_1",
            .expertsNorm: "pre_feedforward_layernorm_2", .expertsPostNorm: "post_feedforward_layernorm_2",
            .router: "router.proj", .routerNorm: "router.scale", .expertFactors: "router.per_expert_scale",
        ])
        names.plain = [.layerFactor, .routerNorm, .expertFactors]
        let glu = "experts.switch_glu."
        names.experts = [
            ExpertNames(
                gate: "experts.gate_up_proj", up: "experts.gate_up_proj", down: "experts.down_proj", ending: ""),
            // MLX's.
            ExpertNames(gate: glu + "gate_proj", up: glu + "up_proj", down: glu + "down_proj"),
        ]
        names.ignored += sharedKeys
        return names
    }()

    fileprivate static let gemma4GGUF: TensorNames = {
        var names = gguf.with([
            .layerTable: "per_layer_token_embd", .layerProjection: "per_layer_model_proj",
            .layerProjectionNorm: "per_layer_proj_norm", .layerGate: "inp_gate", .layerOutput: "proj",
            .layerNorm: "post_norm", .layerFactor: "layer_output_scale", .denseNorm: "post_ffw_norm_1",
            .expertsNorm: "pre_ffw_norm_2", .expertsPostNorm: "post_ffw_norm_2",
            .routerNorm: "ffn_gate_inp.scale", .expertFactors: "ffn_down_exps.scale",
        ])
        names.plain = [.routerNorm, .expertFactors]
        let both = "ffn_gate_up_exps"
        names.experts = [ExpertNames(gate: both, up: both, down: "ffn_down_exps")]
        names.ignored = ["attn_k.weight", "attn_v.weight", "attn_k_norm.weight"]
        return names
    }()
}

extension Settings {
    /// Gives each layer its kind of attention, and its halves their sizes.
    fileprivate mutating func shape(_ model: inout ModelDescription) throws(AIError) {
        var kinds = layerKinds(model.layers.count, period: 6)
        kinds[kinds.count - 1] = Self.full
        let sources = try sources(kinds)
        for (index, kind) in kinds.enumerated() {
            let isFull = kind == Self.full
            guard var attention = model.layers[index].attention else { continue }
            (attention.headSize, attention.kvHeads) = try heads(index, isFull: isFull, of: attention)
            attention.scale = 1
            attention.headNorm = model.finalNorm
            attention.valueNorm = model.finalNorm?.epsilon
            attention.rotary = try rotary(attention.headSize, isFull: isFull)
            attention.window = isFull ? nil : window(orNone: isUnified ? 1024 : 512)
            attention.hasKeysAsValues = hasKeysAsValues(index, isFull: isFull)
            if let source = sources[index] {
                (attention.source, attention.hasKeysAsValues) = (source, false)
                if flag("use_double_wide_mlp") == true { model.layers[index].feedForward?.width *= 2 }
            }
            if isGGUF, let width = try listed("intermediate_size", index) {
                model.layers[index].feedForward?.width = width
            }
            model.layers[index].attention = attention
            model.layers[index].norms = .around
            model.layers[index].hasFactor = !isGGUF || stores("blk.\(index).layer_output_scale.weight") != false
        }
        model.head?.cap = Float(number("final_logit_softcapping") ?? 0)
    }

    private static let full = "full_attention"

    /// The unified models have no rows of tokens for layers.
    fileprivate var isUnified: Bool { configuration.decoderType?.hasPrefix("gemma4_unified") == true }

    /// Puts experts beside every feed-forward block.
    fileprivate mutating func addExperts(to model: inout ModelDescription) throws(AIError) {
        var experts = try experts(
            width: expertWidth, .init(norm: model.finalNorm?.epsilon, hasFactors: true, renormalizes: true))
        experts.isBeside = true
        for index in model.layers.indices {
            if let activation = model.layers[index].feedForward?.activation { experts.activation = activation }
            model.layers[index].experts = experts
        }
    }

    /// Whether a layer makes values of keys. GGUF does not say: there is no matrix then.
    private func hasKeysAsValues(_ layer: Int, isFull: Bool) -> Bool {
        isGGUF ? stores("blk.\(layer).attn_v.weight") == false : isFull && flag("attention_k_eq_v") == true
    }

    /// The width of a layer's heads and the number of those of keys: listed by layer since transformers 5.23, before
    /// that told of the layers that see everything.
    private func heads(
        _ layer: Int, isFull: Bool, of usual: ModelDescription.Attention
    ) throws(AIError) -> (size: Int, kvHeads: Int) {
        var (size, kvHeads) = (JSON?.none, JSON?.none)
        if isGGUF {
            // key_length is that of the layers that see everything.
            let size = try listed(isFull ? "head_dim" : "head_dim_swa", layer) ?? usual.headSize
            return (size, try listed("num_key_value_heads", layer) ?? usual.kvHeads)
        }
        if let listed = object("per_layer_config") {
            // Keys may have leading zeros: transformers gives all of them the same length.
            let own = listed.members.first { Int($0.key) == layer }?.value.object
            (size, kvHeads) = (own?["head_dim"], own?["num_key_value_heads"])
        } else if isFull {
            size = value("global_head_dim") ?? .int(512)
            // As Gemma4TextConfig does.
            if flag("attention_k_eq_v") == true { kvHeads = value("num_global_key_value_heads") }
        }
        return (
            try self.size(size, "the head_dim of layer \(layer)") ?? usual.headSize,
            try self.size(kvHeads, "the num_key_value_heads of layer \(layer)") ?? usual.kvHeads
        )
    }

    private mutating func rotary(_ headSize: Int, isFull: Bool) throws(AIError) -> ModelDescription.Rotary {
        if isGGUF {
            let base = positive(isFull ? "rope_theta" : "rope_local_base_freq") ?? (isFull ? 1_000_000 : 10_000)
            guard headSize % 2 == 0 else { throw .malformed(path, "a head of \(headSize) has no pairs") }
            // Pairs that do not turn have a large divisor in rope_freqs, which only these layers use.
            let hasFactors = isFull && stores("rope_freqs.weight") != false
            return ModelDescription.Rotary(base: base, rotated: headSize, hasFactors: hasFactors)
        }
        if isFull, !has("rope_parameters") {
            return ModelDescription.Rotary(
                base: 1_000_000, rotated: headSize, scaling: .proportional(turning: headSize / 8, factor: 1))
        }
        return try rotary(
            headSize: headSize, kind: isFull ? Self.full : "sliding_attention", base: isFull ? 1_000_000 : 10_000)
    }
}
