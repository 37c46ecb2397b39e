import HubCore
import ModelFormats

/// Decoders that have state spaces and attention: Bamba and Falcon-H1 with Mamba 2, Jamba with Mamba.
extension Architecture {
    /// https://huggingface.co/blog/bamba
    static let bamba = Architecture("Bamba", ["bamba"], gguf: [], classes: .decoder("Bamba"), names: .bamba) {
        settings throws(AIError) in
        var model = try settings.decoder()
        let rotary = try settings.rotary(headSize: model.layers.first?.attention?.headSize ?? 0, share: 0.5)
        model.eachAttention { $0.rotary = rotary }
        try settings.replaceAttention(of: &model)
        return model
    }

    /// https://arxiv.org/abs/2507.22448. llama.cpp's converter multiplies the weights by the factors, and knows no gate
    /// after the norm.
    static let falconH1 = Architecture(
        "Falcon-H1", ["falcon_h1"], gguf: ["falcon-h1"], classes: .decoder("FalconH1"), names: .falconH1,
        ggufTensors: .falconH1GGUF
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let norm = ModelDescription.Norm(epsilon: model.finalNorm?.epsilon ?? 1e-5)
        var space = try settings.stateSpace(norm, .hybrid)
        let isNormed = settings.stores("blk.0.ssm_norm.weight") ?? false
        if !(settings.isGGUF ? isNormed : settings.flag("mamba_rms_norm") == true) { space.norm = nil }
        space.gatesLast = settings.flag("mamba_norm_before_gate") ?? !settings.isGGUF
        try settings.multiply(&model, &space)
        for index in model.layers.indices { model.layers[index].recurrence = .space(space) }
        return model
    }

    /// https://arxiv.org/abs/2403.19887
    static let jamba = Architecture(
        "Jamba", ["jamba"], gguf: ["jamba"], classes: .decoder("Jamba"), names: .jamba, ggufTensors: .mambaGGUF
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        model.eachAttention { $0.rotary = nil }
        let space = try settings.selectiveSpace(
            width: model.width, norm: model.finalNorm,
            SelectiveNames(
                expand: "mamba_expand", rank: "mamba_dt_rank", stateSize: "mamba_d_state", taps: "mamba_d_conv",
                convolutionBias: "mamba_conv_bias", bias: "mamba_proj_bias"))
        let (period, offset) = (settings.count("attn_layer_period") ?? 8, settings.place("attn_layer_offset") ?? 4)
        let kinds = settings.isGGUF ? try settings.storedKinds(model.layers.count) : []
        for index in model.layers.indices
        where kinds.isEmpty ? index % period != offset : kinds[index] == "linear_attention" {
            model.layers[index].attention = nil
            model.layers[index].recurrence = .selective(space)
        }
        if settings.configuration.experts ?? 16 > 1 {
            let experts = try settings.experts(width: settings.configuration.intermediateSize, .init())
            let (every, first) = (
                settings.count("expert_layer_period") ?? 2, settings.place("expert_layer_offset") ?? 1
            )
            let isGGUF = settings.isGGUF
            model.mix(experts) { isGGUF ? settings.isSparse($0) : $0 % every == first }
        }
        return model
    }
}

extension Settings {
    /// Puts in Falcon-H1's factors, which are 1 where settings do not say. Those of a matrix's input become ones of its
    /// output, and those of queries, keys and values factors of scores and of the result.
    fileprivate mutating func multiply(
        _ model: inout ModelDescription, _ space: inout ModelDescription.StateSpace
    ) throws(AIError) {
        func factor(_ key: String) throws(AIError) -> Float {
            let told = Float(number(key) ?? 1)
            guard told.isFinite, told != 0 else { throw .malformed(path, "\(key) is \(told)") }
            return told
        }
        func factors(_ key: String, _ count: Int) throws(AIError) -> [Float] {
            guard let told = numbers(key) else { return Array(repeating: 1, count: count) }
            guard told.count == count else { throw .malformed(path, "\(key) is not \(count) numbers") }
            return told.map { Float($0) }
        }
        for key in ["projectors_bias", "attention_bias", "mlp_bias", "mamba_proj_bias"] where flag(key) == true {
            refuse(key)
        }
        let (parts, entry) = (try factors("ssm_multipliers", 5), try factor("ssm_in_multiplier"))
        space.factors = .init(
            gate: entry * parts[0], input: entry * parts[1], write: entry * parts[2], read: entry * parts[3],
            step: entry * parts[4])
        let (attended, key) = (try factor("attention_in_multiplier"), try factor("key_multiplier"))
        model.eachAttention { $0.scale *= attended * attended * key }
        let block = try factors("mlp_multipliers", 2)
        model.eachFeedForward { $0.gateFactor = block[0] }
        let all = ModelDescription.Factors(
            attention: attended * (try factor("attention_out_multiplier")),
            recurrence: try factor("ssm_out_multiplier"), feedForward: block[1])
        for index in model.layers.indices { model.layers[index].factors = all }
        model.embedding.scale = try factor("embedding_multiplier")
        model.head?.scale = try factor("lm_head_multiplier")
    }
}

extension TensorNames {
    fileprivate static let bamba = hybrid.with([.finalNorm: "final_layernorm"]).withStateSpaces("mamba.")
    fileprivate static let falconH1 = hybrid.with([.finalNorm: "final_layernorm"]).withStateSpaces("mamba.")
    fileprivate static let falconH1GGUF: TensorNames = {
        var names = mamba2GGUF
        names.plain.insert(.feedForwardNorm)
        return names
    }()

    fileprivate static let jamba: TensorNames = {
        var names = hybrid.with([.finalNorm: "final_layernorm", .router: "feed_forward.router"])
            .withStateSpaces("mamba.").with([
                .recurrentParts: "mamba.x_proj", .recurrentStep: "mamba.dt_proj",
                .recurrentStepNorm: "mamba.dt_layernorm", .recurrentWriteNorm: "mamba.b_layernorm",
                .recurrentReadNorm: "mamba.c_layernorm",
            ])
        let experts = "feed_forward.experts."
        names.experts = [
            ExpertNames(gate: experts + "#.gate_proj", up: experts + "#.up_proj", down: experts + "#.down_proj"),
            ExpertNames(
                gate: experts + "gate_up_proj", up: experts + "gate_up_proj", down: experts + "down_proj",
                ending: ""),
        ]
        return names
    }()

    private static let hybrid = llama.with([
        .feedForwardNorm: "pre_ff_layernorm", .gate: "feed_forward.gate_proj", .up: "feed_forward.up_proj",
        .down: "feed_forward.down_proj",
    ])
}
