package import HubCore

/// The files of a repository, sorted out: its sets of weights, and what goes with each of them.
package struct ModelFiles: Sendable {
    /// The sets of weights, the smallest first.
    package let variants: [ModelVariant]

    /// Files that go with any set, with the folder that is a model of its own where they lie in one.
    private let plain: [(path: String, scope: String)]
    private let projectors: [(name: GGUFName, path: String)]

    /// - Parameters:
    ///   - library: the library that the Hub names, where it is known.
    ///   - tags: the Hub's tags, where they are known.
    package init(_ files: [RepositoryFile], library: String? = nil, tags: [String] = []) {
        let isMLX = library == "mlx" || library?.hasPrefix("mlx-") == true || tags.contains("mlx")
        let layout = RepositoryLayout(files.map(\.path), isMLX: isMLX)
        var sets = WeightSets()
        var plain: [(path: String, scope: String)] = []
        var projectors: [(name: GGUFName, path: String)] = []
        for file in files {
            switch layout.role(of: file.path) {
            case .plain: plain.append((file.path, layout.scope(of: file.path)))
            case .aside: break
            case .projector(let name): projectors.append((name, file.path))
            case .weights(let name): sets.add(file, name)
            }
        }
        self.plain = plain + sets.takeOrphans()
        self.projectors = projectors
        variants = sets.variants(mlxQuantization: Self.bits(tags))
    }

    /// `4bit` of the tag `4-bit`; nil where tags name none, or several.
    private static func bits(_ tags: [String]) -> String? {
        let bits = tags.filter { $0.utf8.count == 5 && $0.hasSuffix("-bit") && $0.first?.isNumber == true }
        return bits.count == 1 ? "\(bits[0].prefix(1))bit" : nil
    }

    /// Everything that a set of weights needs and nothing that another brings: its files, its projector, and what is no
    /// weights.
    package func paths(of variant: ModelVariant) -> [String] {
        variant.files + variant.companions + projectors(for: variant)
            + plain.lazy.filter { ["", variant.scope].contains($0.scope) }.map(\.path)
    }

    /// As llama.cpp chooses one beside a model: of the folders on the way to the model the deepest, there the one whose bits
    /// are nearest to the model's, the first of equals. Those of several models are told apart by the rest of their names.
    private func projectors(for variant: ModelVariant) -> [String] {
        guard variant.format == .gguf else { return [] }
        let folder = Path.parts(Path.parent(variant.files[0]))
        func folders(_ path: String) -> [Substring] { Path.parts(Path.parent(path)).filter { $0 != "." } }
        var near = projectors.filter { folder.starts(with: folders($0.path)) }
        if near.isEmpty { near = projectors }
        let depth = near.map { folders($0.path).count }.max()
        var chosen: [String: (path: String, distance: Int)] = [:]
        for (name, path) in near where folders(path).count == depth {
            let distance = abs((name.quantization?.bits ?? 16) - (variant.bits ?? 16))
            let rest = name.quantization?.rest ?? name.stem.lowercased()
            if distance < chosen[rest]?.distance ?? .max { chosen[rest] = (path, distance) }
        }
        return chosen.values.map(\.path).sorted()
    }
}
