extension ModelDescription {
    /// Every token has a row for each layer, which comes from a table and from its embedding, and adds to what the layer
    /// makes, through a gate (https://ai.google.dev/gemma/docs/gemma-3n, transformers' `Gemma4TextModel`).
    struct LayerInputs: Sendable, Hashable {
        /// Rows of the table, each with those of all layers, one after the other. Ids beyond it have the first row.
        var vocabulary: Int
        /// Of a layer's row.
        var width: Int
        /// Of the gate.
        var activation: Activation
        /// Of the projected embedding, per layer, and of what is added.
        var norm: Norm
    }

    /// The numbers of a token's rows for all layers.
    var layerInputWidth: Int { layers.count * (layerInputs?.width ?? 0) }
}
