import ModelFormats

/// How many layers a model's weights have, by the numbers in their names.
enum LayerCount {
    /// nil where no name has the number of a layer of the text.
    static func held(_ names: some Sequence<String>) -> Int? {
        held(names.lazy.compactMap { LayerName($0)?.layer })
    }

    /// nil where there is no layer.
    static func held(_ layers: some Sequence<Int>) -> Int? { layers.max().map { $0 + 1 } }

    static func sentence(held: Int, told: Int, by source: String) -> String {
        "the weights have \(counted(held, "layer")); \(source) says \(told)"
    }
}
