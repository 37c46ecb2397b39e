import HubCore
import ModelFormats

/// GPT-Neo (https://github.com/EleutherAI/gpt-neo): GPT-2 with windows in every second layer, scores that are not scaled, and
/// no biases of queries, keys and values.
extension Architecture {
    static let gptNeo = Architecture(
        "GPT-Neo", ["gpt_neo"], gguf: [], classes: [.generator("GPTNeoForCausalLM"), .base("GPTNeoModel")],
        names: .gptNeo
    ) { settings throws(AIError) in
        var model = try settings.plainDecoder(activation: .geluTanh)
        model.embedding.positions = model.maxPositions
        model.head?.isTied = settings.isTied(default: true)
        model.eachAttention { ($0.scale, $0.hasInputBias) = (1, false) }
        let window = settings.positions("window_size") ?? 256
        let kinds = settings.neoKinds(model.layers.count)
        guard kinds.count == model.layers.count, kinds.allSatisfy({ ["global", "local"].contains($0) }) else {
            throw .malformed(
                settings.path, "attention_types do not name a kind for each of \(model.layers.count) layers")
        }
        for index in model.layers.indices where kinds[index] == "local" {
            model.layers[index].attention?.window = window
        }
        return model
    }
}

extension Settings {
    /// The kind of each layer: `attention_layers`, or the runs of `attention_types`.
    fileprivate func neoKinds(_ count: Int) -> [String] {
        if let listed = texts("attention_layers") { return listed }
        var kinds: [String] = []
        for run in list("attention_types") ?? [] {
            guard let pattern = run.array?.first?.array?.compactMap(\.string), let times = run.array?.last?.int
            else {
                return []
            }
            for _ in 0..<max(0, min(times, Int64(count))) where kinds.count <= count { kinds += pattern }
        }
        return has("attention_types") ? kinds : (0..<count).map { $0 % 2 == 0 ? "global" : "local" }
    }
}

extension TensorNames {
    fileprivate static let gptNeo = TensorNames(
        prefix: "transformer.", layer: "h.",
        stems: [
            .embedding: "wte", .positions: "wpe", .finalNorm: "ln_f", .head: "lm_head", .attentionNorm: "ln_1",
            .query: "attn.attention.q_proj", .key: "attn.attention.k_proj", .value: "attn.attention.v_proj",
            .attentionOutput: "attn.attention.out_proj", .feedForwardNorm: "ln_2", .up: "mlp.c_fc",
            .down: "mlp.c_proj",
        ], ignored: ["attn.attention.bias", "attn.attention.masked_bias"])
}
