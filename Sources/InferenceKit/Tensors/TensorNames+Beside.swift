/// Stored tensors that are not part of the model.
extension TensorNames {
    /// The first parts of the model's names, without its prefix.
    private var roots: Set<String> {
        let own =
            stems.filter { !outside.contains($0.key) }.values + [layer] + heads + encoders.map(\.prefix)
            + towers.map(\.prefix)
        return Set(own.map(Self.root))
    }

    private static func root(_ name: String) -> String { String(name.prefix { $0 != "." }) }

    /// Heads that are not the model's, in files whose names have no prefix.
    private static let besideHeads: Set<String> = ["score", "classifier", "qa_outputs"]

    /// Those tensors that are neither within the model nor in its head, such as the value head that reinforcement learning
    /// leaves behind: the class in `config.json` has no place for them, and transformers does not load them either.
    func beside(_ stored: Set<String>, prefix: String) -> Set<String> {
        let own = roots.union(outside.compactMap { stems[$0] }.map(Self.root))
        return stored.filter { name in
            let root = Self.root(name)
            guard !own.contains(root) else { return false }
            if prefix.isEmpty { return root.hasSuffix("head") || Self.besideHeads.contains(root) }
            return root != Self.root(prefix)
        }
    }

    /// Whether a file has nothing but the model.
    func isAlone(in stored: Set<String>) -> Bool {
        let (found, roots) = (prefix(in: stored), self.roots)
        return stored.allSatisfy { name in
            !found.isEmpty && name.hasPrefix(found) || roots.contains(Self.root(name))
        }
    }
}
