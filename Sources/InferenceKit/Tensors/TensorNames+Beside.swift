/// Tensors of a file that are not the model's.
extension TensorNames {
    /// The first parts of the model's names, its prefix aside.
    private var roots: Set<String> {
        let own = stems.filter { !outside.contains($0.key) }.values + [layer] + heads + encoders.map(\.prefix)
        return Set(own.map(Self.root))
    }

    private static func root(_ name: String) -> String { String(name.prefix { $0 != "." }) }

    /// Heads that files of decoders without a prefix have beside the model.
    private static let besideHeads: Set<String> = ["score", "classifier", "qa_outputs"]

    /// Whether a tensor is neither within the model nor in its head, as the value head that reinforcement learning leaves
    /// behind: then the class in `config.json` has no place for it, and transformers leaves it aside too.
    func isBeside(_ stored: String, prefix: String) -> Bool {
        let root = Self.root(stored)
        let heads = Set(outside.compactMap { stems[$0] }.map(Self.root))
        guard !roots.contains(root), !heads.contains(root) else { return false }
        if prefix.isEmpty { return root.hasSuffix("head") || Self.besideHeads.contains(root) }
        return root != Self.root(prefix)
    }

    /// Whether a file has nothing but the model.
    func isAlone(in stored: Set<String>) -> Bool {
        let found = prefix(in: stored)
        return stored.allSatisfy { name in
            !found.isEmpty && name.hasPrefix(found) || roots.contains(Self.root(name))
        }
    }
}
