import HubCore
import ModelFormats

/// ERNIE 4.5 (https://ernie.baidu.com/blog/publication/ERNIE_Technical_Report.pdf): Llama whose heads rotate in adjacent
/// pairs; also with experts.
extension Architecture {
    static let ernie45 = Architecture(
        "ERNIE 4.5", ["ernie4_5"], gguf: ["ernie4_5"],
        classes: .decoder("Ernie4_5") + [.generator("Ernie4_5_ForCausalLM")]
    ) { settings throws(AIError) in try settings.ernie() }

    static let ernie45Moe = Architecture(
        "ERNIE 4.5 MoE", ["ernie4_5_moe"], gguf: ["ernie4_5-moe"], classes: .decoder("Ernie4_5_Moe"),
        names: .ernieMoe, ggufTensors: .ernieMoeGGUF
    ) { settings throws(AIError) in
        var model = try settings.ernie()
        let last = model.layers.count - 1
        let isGGUF = settings.isGGUF
        let first =
            isGGUF ? settings.place("first_k_dense_replace") ?? 0 : settings.place("moe_layer_start_index") ?? 1
        let end = settings.placeIfAny("moe_layer_end_index") ?? last
        let interval = settings.count(isGGUF ? "interleave_moe_layer_step" : "moe_layer_interval") ?? 1
        var experts = try settings.experts(
            width: settings.expertWidth, .init(hasChoiceBias: true, renormalizes: true))
        experts.shared = try settings.ernieShared(experts.width).map { .init(width: $0) }
        if !isGGUF, settings.flag("use_bias") == true { settings.refuse("use_bias with experts") }
        model.mix(experts) { $0 >= first && $0 <= end && ($0 + 1) % interval == 0 }
        return model
    }
}

extension Settings {
    fileprivate mutating func ernie() throws(AIError) -> ModelDescription {
        var model = try decoder(isTied: true)
        var rotary = try rotary(headSize: model.layers[0].attention?.headSize ?? 0, base: 500_000)
        rotary.isAdjacent = true
        let hasBias = flag("use_bias") ?? false
        let (input, output) = (has(bias: "use_bias", of: "attn_q"), has(bias: "use_bias", of: "attn_output"))
        let inner = isGGUF ? has(bias: "use_bias", of: "ffn_down") : hasBias
        model.eachAttention { ($0.rotary, $0.hasInputBias, $0.hasOutputBias) = (rotary, input, output) }
        model.eachFeedForward { $0.hasBias = inner }
        return model
    }

    /// The width of what every row goes through beside experts; nil for none.
    fileprivate func ernieShared(_ width: Int) throws(AIError) -> Int? {
        if isGGUF {
            return count("shared_expert_intermediate_size") ?? countIfAny("n_shared_experts").map { $0 * width }
        }
        guard has("moe_num_shared_experts") else { return 2 * width }
        return countIfAny("moe_num_shared_experts").map { $0 * width }
    }
}

extension TensorNames {
    fileprivate static let ernieMoe: TensorNames = {
        let shared = "mlp.shared_experts."
        var names = llama.with([
            .sharedGate: shared + "gate_proj", .sharedUp: shared + "up_proj", .sharedDown: shared + "down_proj",
        ])
        names.plainBiases[.choiceBias] = "mlp.moe_statics.e_score_correction_bias"
        return names
    }()

    fileprivate static let ernieMoeGGUF = gguf.with([.choiceBias: "exp_probs_b"])
}
