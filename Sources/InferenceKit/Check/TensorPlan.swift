/// Which tensors an architecture has, by name and shape, as text: one ``TensorLine`` to a line.
struct TensorPlan: Sendable {
    /// The tensors of each layer.
    struct Stack: Sendable {
        /// The prefix of the layer number: `layers.`
        let name: String
        /// The setting with their number; nil for the decoder's layers.
        var count: String?
        let lines: String
    }

    /// The suffix of a tensor whose prefix all of them share: `model.`, `transformer.` or empty.
    let mark: String
    /// That prefix, if the mark is missing.
    var prefix = ""
    let top: String
    let stacks: [Stack]
    /// Defaults of the class for settings missing in the file; 1 is true.
    var defaults: [String: Int] = [:]

    /// A decoder with the usual names.
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

/// One line of a plan: `self_attn.q_proj.weight q h ?attention_bias`, a name, its dimensions, and its condition.
///
/// - A name prefixed by `~` may be missing; `^` puts it outside the common prefix, as for heads. A trailing `*` stands
///   for a weight and its bias, `#` for the number of an expert.
/// - A side is a sum of products of numbers, of the letters of ``TensorSizes``, and of settings; after `|` comes the
///   fallback if one of them is unknown; `_` is any length.
/// - `?x` requires that x is set, `!x` that it is not, `?@x` that some name in the checkpoint contains x.
struct TensorLine {
    /// Properties that differ between layers.
    enum Trait: String, CaseIterable { case sparse, linear, first }

    let name: String
    /// nil for a length that the configuration does not give.
    let shape: [Int?]
    let isOptional: Bool
    let isOutside: Bool
    /// The properties that a layer must have, or must not have.
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
