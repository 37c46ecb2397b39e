import ModelFormats

/// How many layers a model's weights have, by the numbers in their names.
enum LayerCount {
    private static let words: Set<Substring> = ["layers", "h", "blk", "block", "layer"]

    /// nil where no name has the number of a layer of the text.
    static func held(_ names: some Sequence<String>) -> Int? {
        let last = names.compactMap { name -> Int? in
            let parts = name.split(separator: ".")
            guard let at = parts.firstIndex(where: words.contains), at + 1 < parts.count,
                let number = Int(parts[at + 1]), ![.vision, .audio].contains(TensorPart(name))
            else { return nil }
            return number
        }.max()
        return last.map { $0 + 1 }
    }

    static func sentence(held: Int, told: Int, by source: String) -> String {
        "the weights have \(counted(held, "layer")), \(source) says \(told)"
    }
}
