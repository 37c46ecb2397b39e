import HubCore
import ModelFormats

/// The values of the words of a ``TensorPlan`` for one checkpoint.
struct TensorSizes {
    let configuration: ModelConfiguration
    /// The plan's defaults.
    let defaults: [String: Int]
    let names: Set<String>

    /// A dimension of a shape; nil if unknown.
    func side(_ text: String) -> Int? {
        text.split(separator: "|").lazy.compactMap { sum($0) }.first
    }

    private func sum(_ text: Substring) -> Int? {
        var total = 0
        for term in text.split(separator: "+") {
            var product = 1
            for factor in term.split(separator: "*") {
                guard let number = number(String(factor)) else { return nil }
                let (value, overflow) = product.multipliedReportingOverflow(by: number)
                guard !overflow else { return nil }
                product = value
            }
            let (value, overflow) = total.addingReportingOverflow(product)
            guard !overflow else { return nil }
            total = value
        }
        return total
    }

    private func number(_ word: String) -> Int? {
        let c = configuration
        func product(_ a: Int?, _ b: Int?) -> Int? { a.flatMap { a in b.map { a * $0 } } }
        return switch word {
        case "v": c.vocabulary
        case "h": c.hiddenSize
        case "i": c.intermediateSize
        // The width of all query heads, and of all key heads.
        case "q": product(c.heads, c.headSize)
        case "k": product(c.kvHeads, c.headSize)
        case "d": c.headSize
        case "n": c.heads
        case "g": c.kvHeads
        case "p": c.maxPositions
        case "e": c.experts
        // The inner size of one expert.
        case "f": setting("moe_intermediate_size") ?? c.intermediateSize
        // The rank of Mamba's time step; "auto" is a sixteenth of the width.
        case "r": setting("time_step_rank") ?? c.hiddenSize.map { ($0 + 15) / 16 }
        default: Int(word) ?? setting(word)
        }
    }

    /// A non-negative integer from the file or the class's defaults.
    func setting(_ key: String) -> Int? {
        guard let value = configuration.settings[key], !value.isNull else { return defaults[key] }
        return (value.int ?? value.double.flatMap { Int64(exactly: $0) }).flatMap {
            (0...Int64(Int32.max)).contains($0) ? Int($0) : nil
        }
    }

    /// Whether a condition of a line holds.
    func holds(_ condition: String) -> Bool {
        if condition.hasPrefix("@") {
            let part = String(condition.dropFirst())
            return names.contains { $0.holds(part) }
        }
        switch condition {
        case "gated": return configuration.settings["feed_forward_proj"]?.string?.hasPrefix("gated") == true
        case "decoder": return configuration.architectures.first?.hasSuffix("EncoderModel") != true
        // Falcon's newer decoders have a norm for each of the two parallel branches.
        case "two_norms": return holds("new_decoder_architecture") && (setting("num_ln_in_parallel_attn") ?? 2) == 2
        case "projected": return setting("word_embed_proj_dim").map { $0 != configuration.hiddenSize } ?? false
        default: break
        }
        guard let value = configuration.settings[condition], !value.isNull else {
            return defaults[condition] ?? 0 != 0
        }
        if let truth = value.bool { return truth }
        if let number = value.double { return number != 0 }
        return true
    }

    /// Whether a layer has a line's property.
    func layer(_ layer: Int, is trait: TensorLine.Trait) -> Bool {
        switch trait {
        case .first: return layer == 0
        case .linear:
            let kinds = configuration.layerKinds
            return layer < kinds.count && kinds[layer] == "linear_attention"
        case .sparse:
            // By whichever of these settings the architecture uses.
            guard configuration.experts != nil else { return false }
            if let dense = setting("first_k_dense_replace"), layer < dense { return false }
            if layer % max(1, setting("moe_layer_freq") ?? 1) != 0 { return false }
            func places(_ key: String) -> [Int64]? { configuration.settings[key]?.array?.compactMap(\.int) }
            if places("mlp_only_layers")?.contains(Int64(layer)) == true { return false }
            if let sparse = places("moe_layers"), !sparse.isEmpty { return sparse.contains(Int64(layer)) }
            let step = setting("decoder_sparse_step") ?? setting("interleave_moe_layer_step") ?? 1
            return step > 0 && (layer + 1) % step == 0
        }
    }
}
