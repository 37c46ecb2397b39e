import HubCore
import ModelFormats

/// Qwen 2 (https://arxiv.org/abs/2407.10671) and 3 (https://arxiv.org/abs/2505.09388).
extension Architecture {
    static let qwen2 = Architecture("Qwen 2", ["qwen2"], gguf: ["qwen2"], classes: .decoder("Qwen2")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        model.eachAttention { $0.hasInputBias = true }
        settings.slide(&model)
        return model
    }

    static let qwen3 = Architecture("Qwen 3", ["qwen3"], gguf: ["qwen3"], classes: .decoder("Qwen3")) {
        settings throws(AIError) in
        var model = try settings.decoder()
        let norm = model.finalNorm
        model.eachAttention { $0.headNorm = norm }
        settings.slide(&model)
        return model
    }
}

extension Settings {
    /// The layers from `max_window_layers` on see a window, if `use_sliding_window` is on.
    func slide(_ model: inout ModelDescription) {
        guard flag("use_sliding_window") == true, let window = window(orNone: 4096) else { return }
        let first = place("max_window_layers") ?? 28
        let listed = configuration.layerKinds
        for index in model.layers.indices {
            let slides = listed.count == model.layers.count ? listed[index] == "sliding_attention" : index >= first
            if slides { model.layers[index].attention?.window = window }
        }
    }
}
