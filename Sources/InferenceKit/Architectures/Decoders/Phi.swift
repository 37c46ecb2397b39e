import HubCore

/// Phi-3 and Phi-4 (https://arxiv.org/abs/2404.14219): packed projections, and longrope.
extension Architecture {
    static let phi3 = Architecture(
        "Phi-3", ["phi3"], gguf: ["phi3"], classes: .decoder("Phi3"), names: .phi3, ggufTensors: .phi3GGUF
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let window = settings.count("sliding_window")
        // GGUF does not name longrope: its divisors are tensors.
        if settings.isGGUF, settings.stores("rope_factors_long.weight") == true {
            let scaling = try settings.longScaling()
            model.eachAttention { $0.rotary?.scaling = scaling }
        }
        model.eachAttention { $0.window = window }
        return model
    }
}

extension TensorNames {
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
