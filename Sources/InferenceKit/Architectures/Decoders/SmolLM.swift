import HubCore
import ModelFormats

/// SmolLM3 (https://huggingface.co/blog/smollm3): Llama, but every fourth layer does not rotate.
extension Architecture {
    static let smolLM3 = Architecture("SmolLM3", ["smollm3"], gguf: ["smollm3"], classes: .decoder("SmolLM3")) {
        settings throws(AIError) in
        var model = try settings.decoder(isTied: true)
        let count = model.layers.count
        var rotary = try settings.rotary(headSize: model.layers[0].attention?.headSize ?? 0, base: 2_000_000)
        // llama.cpp's files have permuted rows of queries and keys.
        rotary.isAdjacent = settings.isGGUF
        let interval = settings.count("no_rope_layer_interval") ?? 4
        // A 1 means, against the name, that a layer rotates.
        let rotates =
            settings.places("no_rope_layers").map { $0.map { $0 != 0 } } ?? (1...count).map { $0 % interval != 0 }
        guard rotates.count >= count else {
            throw .malformed(settings.path, "no_rope_layers is not a list of \(count) numbers")
        }
        // Listed kinds count, whatever use_sliding_window says.
        let kinds = settings.configuration.layerKinds
        let slides = kinds.count == count || settings.flag("use_sliding_window") == true
        let window = slides ? settings.window() : nil
        for index in model.layers.indices {
            model.layers[index].attention?.rotary = rotates[index] ? rotary : nil
            let slides = kinds.count == count ? kinds[index] == "sliding_attention" : !rotates[index]
            model.layers[index].attention?.window = slides ? window : nil
        }
        return model
    }
}
