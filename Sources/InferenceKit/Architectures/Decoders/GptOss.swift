import HubCore
import Libc
import ModelFormats

/// gpt-oss (https://arxiv.org/abs/2508.10925): a window in every second layer, sinks, biases everywhere, and clamped gates.
extension Architecture {
    static let gptOss = Architecture(
        "gpt-oss", ["gpt_oss"], gguf: ["gpt-oss"], classes: .decoder("GptOss"), names: .gptOss,
        ggufTensors: .gptOssGGUF
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let kinds = settings.layerKinds(model.layers.count, period: 2)
        let window = settings.window(orNone: 128)
        let hasBias = settings.flag("attention_bias") ?? true
        let saysScaling = settings.isGGUF || settings.has("rope_parameters") || settings.has("rope_scaling")
        for index in model.layers.indices {
            guard var attention = model.layers[index].attention else { continue }
            (attention.hasInputBias, attention.hasOutputBias, attention.hasSinks) = (hasBias, hasBias, true)
            attention.window = kinds[index] == "sliding_attention" ? window : nil
            // GGUF does not say that the ramp's ends are not rounded.
            if settings.isGGUF { attention.rotary?.scaling.roundsNothing() }
            if !saysScaling {
                attention.rotary?.scaling = .yarn(
                    factor: 32, originalPositions: 4096, fast: 32, slow: 1, attention: 0.1 * log(32) + 1,
                    isTruncated: false)
            }
            model.layers[index].attention = attention
        }
        for (key, usual) in [("swiglu_limit", 7.0), ("swiglu_alpha", 1.702)] {
            if let told = settings.number(key), told != usual { settings.refuse(key, "\(told)") }
        }
        var experts = try settings.experts(
            width: settings.count("moe_intermediate_size") ?? settings.configuration.intermediateSize,
            .init(scores: .softmaxOfChosen, hasBias: true))
        (experts.activation, experts.hasBias) = (.clamped, true)
        model.mix(experts)
        return model
    }
}

extension ModelDescription.Rotary.Scaling {
    fileprivate mutating func roundsNothing() {
        guard case .yarn(let factor, let original, let fast, let slow, let attention, _) = self else { return }
        self = .yarn(
            factor: factor, originalPositions: original, fast: fast, slow: slow, attention: attention,
            isTruncated: false)
    }
}

extension TensorNames {
    fileprivate static let gptOss: TensorNames = {
        var names = llama.with([.router: "mlp.router", .sinks: "self_attn.sinks"])
        names.plain.insert(.sinks)
        names.experts = [
            ExpertNames(
                gate: "mlp.experts.gate_up_proj", up: "mlp.experts.gate_up_proj", down: "mlp.experts.down_proj",
                ending: "", biasEnding: "_bias", alternates: true, isTransposed: true),
            // MLX.
            ExpertNames(
                gate: "mlp.experts.gate_proj", up: "mlp.experts.up_proj", down: "mlp.experts.down_proj"),
        ]
        return names
    }()
    fileprivate static let gptOssGGUF = gguf.with([.feedForwardNorm: "post_attention_norm", .sinks: "attn_sinks"])
}
