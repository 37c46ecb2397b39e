import HubCore

extension ModelDescription {
    /// Makes attention bidirectional, as transformers does with any decoder for which config.json says `is_causal: false`.
    /// A window then reaches equally far to both sides, and has the position itself besides.
    mutating func seeBothSides(_ settings: inout Settings) {
        let shapes = Set(layers.map { $0.attention?.shape(window: nil) })
        guard shapes.count == 1, distances == nil,
            layers.allSatisfy({ $0.attention != nil && $0.attention?.source == nil && $0.recurrence == nil })
        else { return settings.refuse("is_causal", "false") }
        isCausal = false
        eachAttention { if let window = $0.window { $0.window = window + 1 } }
    }

    /// Whether it generates text although its attention is bidirectional, which cannot work token by token.
    var generatesFromBothSides: Bool { task == .textGeneration && !isCausal }
}
