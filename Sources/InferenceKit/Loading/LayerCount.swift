import ModelFormats

/// The number of layers in a model's weights, by the numbers in tensor names.
enum LayerCount {
    /// nil if no name has the number of a text layer.
    static func held(_ names: some Sequence<String>) -> Int? {
        held(names.lazy.compactMap { LayerName($0)?.layer })
    }

    /// nil if there is no layer.
    static func held(_ layers: some Sequence<Int>) -> Int? { layers.max().map { $0 + 1 } }
}
