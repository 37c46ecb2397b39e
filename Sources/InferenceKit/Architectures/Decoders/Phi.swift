import HubCore
import ModelFormats

/// Phi 1 (https://arxiv.org/abs/2306.11644) and 2: halves in parallel behind one norm, a part of a head rotates, biases.
extension Architecture {
    // llama.cpp's converter packed Phi 2 at first.
    static let phi = Architecture(
        "Phi 1 and 2", ["phi"], gguf: ["phi2"], classes: .decoder("Phi"), names: .phi, otherGGUF: [.packedGGUF]
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(activation: .geluTanh, isGrouped: true)
        model.placeNorms(.parallel(sharesNorm: true))
        let headSize = model.layers.first?.attention?.headSize ?? 0
        let rotary = try settings.rotary(headSize: headSize, share: 0.5)
        let headNorm = settings.flag("qk_layernorm") == true ? model.finalNorm : nil
        model.eachAttention { ($0.rotary, $0.headNorm) = (rotary, headNorm) }
        model.head?.hasBias = true
        return model
    }
}

/// Phi-3 and Phi-4 (https://arxiv.org/abs/2404.14219): packed projections, and longrope.
extension Architecture {
    static let phi3 = Architecture(
        "Phi-3", ["phi3"], gguf: ["phi3"], classes: .decoder("Phi3"), names: .phi3, ggufTensors: .phi3GGUF
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let window = settings.window()
        // GGUF does not name longrope: its divisors are tensors.
        if settings.isGGUF, settings.stores("rope_factors_long.weight") == true {
            let scaling = try settings.longScaling()
            model.eachAttention { $0.rotary?.scaling = scaling }
        }
        model.eachAttention { $0.window = window }
        return model
    }
}

/// Phi-3.5-MoE (https://arxiv.org/abs/2404.14219): layer norms, biases, two of 16 experts chosen one by one.
extension Architecture {
    static let phiMoe = Architecture(
        "Phi-3.5 MoE", ["phimoe"], gguf: [], classes: .decoder("Phimoe") + [.generator("PhiMoEForCausalLM")],
        names: .mixtral
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        model.setNorms(
            .init(kind: .layer(hasBias: true), epsilon: Float(settings.configuration.rmsNormEpsilon ?? 1e-5)))
        var rotary = try settings.rotary(headSize: model.layers[0].attention?.headSize ?? 0, base: 1_000_000)
        if case .long(let short, let long, let original, _) = rotary.scaling {
            let (near, far) = (settings.rope.number("short_mscale"), settings.rope.number("long_mscale"))
            guard let near, let far else {
                throw .malformed(settings.path, "rope_scaling has no short_mscale and long_mscale")
            }
            if near != far { settings.refuse("short_mscale", "\(near) with long_mscale \(far)") }
            rotary.scaling = .long(short: short, long: long, originalPositions: original, attention: near)
        }
        let window = settings.window()
        model.eachAttention { ($0.rotary, $0.window) = (rotary, window) }
        model.head?.hasBias = settings.flag("lm_head_bias") ?? false
        let margin = 2 * Float(settings.number("router_jitter_noise") ?? 0.01)
        let experts = try settings.experts(
            width: settings.configuration.intermediateSize, .init(scores: .oneByOne(margin: margin)))
        if experts.used != 2 { settings.refuse("num_experts_per_tok", "\(experts.used)") }
        model.mix(experts)
        return model
    }
}

extension TensorNames {
    fileprivate static let phi = llama.with([
        .finalNorm: "final_layernorm", .attentionOutput: "self_attn.dense", .queryNorm: "self_attn.q_layernorm",
        .keyNorm: "self_attn.k_layernorm", .up: "mlp.fc1", .down: "mlp.fc2",
    ])

    private static let packs: [[TensorRole]] = [[.query, .key, .value], [.gate, .up]]

    fileprivate static let phi3: TensorNames = {
        var names = llama.with([.query: "self_attn.qkv_proj", .gate: "mlp.gate_up_proj"])
        names.packed = packs
        return names
    }()
    fileprivate static let phi3GGUF: TensorNames = {
        // Gate and up are one tensor there too, under the name of the latter.
        var names = gguf.with([.query: "attn_qkv", .gate: "ffn_up"])
        names.packed = packs
        return names
    }()
}
