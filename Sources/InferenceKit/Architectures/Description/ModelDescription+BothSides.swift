import HubCore

extension ModelDescription {
    /// Lets every position see those behind it, too: transformers does so with any decoder for which config.json says
    /// `is_causal: false`. A window is then as wide to both sides, beside the position itself.
    mutating func seeBothSides(_ settings: inout Settings) {
        let shapes = Set(layers.map { $0.attention?.shape(window: nil) })
        guard shapes.count == 1, distances == nil,
            layers.allSatisfy({ $0.attention != nil && $0.attention?.source == nil && $0.recurrence == nil })
        else { return settings.refuse("is_causal", "false") }
        isCausal = false
        eachAttention { if let window = $0.window { $0.window = window + 1 } }
    }

    /// Whether it would continue texts of which it has seen the end.
    var generatesFromBothSides: Bool { task == .textGeneration && !isCausal }
}
