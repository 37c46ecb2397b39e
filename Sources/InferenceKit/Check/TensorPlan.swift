/// Which tensors an architecture has, by name and shape, as text: one ``TensorLine`` to a line.
struct TensorPlan: Sendable {
    /// What there is of each layer.
    struct Stack: Sendable {
        /// Before the number of the layer: `layers.`
        let name: String
        /// The setting that counts them; nil for the layers of the decoder.
        var count: String?
        let lines: String
    }

    /// Ends the name of the tensor whose beginning all of them have: `model.`, `transformer.`, nothing.
    let mark: String
    /// That beginning, where the mark itself is missing.
    var prefix = ""
    let top: String
    let stacks: [Stack]
    /// Settings that the class decides where the file does not; 1 is true.
    var defaults: [String: Int] = [:]

    /// A decoder as most of them are called.
    static func decoder(
        _ layer: String, norm: String = "norm.weight h", head: String = "", _ defaults: [String: Int] = [:]
    )
        -> TensorPlan
    {
        TensorPlan(
            mark: "embed_tokens.weight", prefix: "model.",
            top: joined("embed_tokens.weight v h", norm, "^lm_head.weight v h", head),
            stacks: [Stack(name: "layers.", lines: layer)], defaults: defaults)
    }

    static func joined(_ parts: String...) -> String { parts.joined(separator: "\n") }
}

/// One line of a plan: `self_attn.q_proj.weight q h ?attention_bias`, a name, its sides, and on what condition it is there.
///
/// - Before a name `~` says that it may be missing, `^` that it stands outside what the others are part of, as heads do.
///   `*` at its end is a weight and its bias, `#` within it the number of an expert.
/// - A side is a sum of products of numbers, of the letters of ``TensorSizes``, and of settings; after `|` stands what to take
///   where one of them is not known; `_` is any length.
/// - `?x` asks that x is set, `!x` that it is not, `?@x` that some name in the checkpoint holds x.
struct TensorLine {
    /// What differs from layer to layer.
    enum Trait: String, CaseIterable { case sparse, linear, first }

    let name: String
    /// nil for a length that the configuration does not tell.
    let shape: [Int?]
    let isOptional: Bool
    let isOutside: Bool
    /// What a layer has to be, or not, to have it.
    let traits: [(Trait, Bool)]

    /// The lines of a text whose conditions hold.
    static func parse(_ text: String, _ sizes: TensorSizes) -> [TensorLine] {
        text.split(separator: "\n").flatMap { line -> [TensorLine] in
            var words = line.split(separator: " ").map(String.init)
            guard !words.isEmpty else { return [] }
            var name = words.removeFirst()
            var traits: [(Trait, Bool)] = []
            var sides: [Int?] = []
            for word in words {
                guard word.hasPrefix("?") || word.hasPrefix("!") else {
                    sides.append(sizes.side(word))
                    continue
                }
                let (condition, isWanted) = (String(word.dropFirst()), word.hasPrefix("?"))
                if let trait = Trait(rawValue: condition) {
                    traits.append((trait, isWanted))
                } else if sizes.holds(condition) != isWanted {
                    return []
                }
            }
            var marks: Set<Character> = []
            while let first = name.first, "~^".contains(first) { marks.insert(name.removeFirst()) }
            func made(_ name: String, _ shape: [Int?]) -> TensorLine {
                TensorLine(
                    name: name, shape: shape, isOptional: marks.contains("~"), isOutside: marks.contains("^"),
                    traits: traits)
            }
            guard name.hasSuffix("*") else { return [made(name, sides)] }
            name.removeLast()
            return [made(name + "weight", sides), made(name + "bias", Array(sides.prefix(1)))]
        }
    }
}
