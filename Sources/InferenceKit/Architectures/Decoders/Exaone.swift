import HubCore
import ModelFormats

/// EXAONE 4 (https://arxiv.org/abs/2507.11407): norms of what a half adds alone, and of queries and keys. Where there are
/// windows, the layers that see everything do not rotate.
extension Architecture {
    static let exaone4 = Architecture(
        "EXAONE 4", ["exaone4"], gguf: ["exaone4"], classes: .decoder("Exaone4"), names: .normsInside
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        model.placeNorms(.inside)
        let norm = model.finalNorm
        let hasFactors = settings.stores("rope_freqs.weight") ?? false
        model.eachAttention {
            $0.headNorm = norm
            $0.rotary?.hasFactors = settings.isGGUF && hasFactors
        }
        guard let window = settings.window(orNone: settings.isGGUF ? nil : 4096) else { return model }
        let kinds = settings.slidingKinds(model.layers.count)
        for index in model.layers.indices {
            if kinds[index] == "sliding_attention" {
                model.layers[index].attention?.window = window
            } else {
                model.layers[index].attention?.rotary = nil
            }
        }
        return model
    }
}

extension Settings {
    /// The kinds of layers; `sliding_window_pattern` may be letters: LLLG.
    fileprivate func slidingKinds(_ count: Int) -> [String] {
        guard configuration.layerKinds.count != count, let letters = value("sliding_window_pattern")?.string,
            !letters.isEmpty
        else { return layerKinds(count, usual: 4) }
        let kinds = letters.map { $0 == "L" ? "sliding_attention" : "full_attention" }
        return (0..<count).map { $0 + 1 == count ? "full_attention" : kinds[$0 % kinds.count] }
    }
}
