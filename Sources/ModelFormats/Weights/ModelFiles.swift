package import HubCore

/// The files of a repository by role: its weight variants and the files that go with each.
package struct ModelFiles: Sendable {
    /// The weight variants, the smallest first.
    package let variants: [ModelVariant]

    /// Files that go with any variant, with the folder of the separate model they belong to, if any.
    private let plain: [(path: String, scope: String)]
    private let projectors: [(name: GGUFName, path: String)]

    /// - Parameters:
    ///   - library: the Hub's library name, if known.
    ///   - tags: the Hub's tags, if known.
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

    /// `4bit` for the tag `4-bit`; nil if tags name none or several.
    private static func bits(_ tags: [String]) -> String? {
        let bits = tags.filter { $0.utf8.count == 5 && $0.hasSuffix("-bit") && $0.first?.isNumber == true }
        return bits.count == 1 ? "\(bits[0].prefix(1))bit" : nil
    }

    /// The files a variant needs: its own weights, its projector and all files that are not weights.
    package func paths(of variant: ModelVariant) -> [String] {
        variant.files + variant.companions + projectors(for: variant)
            + plain.lazy.filter { ["", variant.scope].contains($0.scope) }.map(\.path)
    }

    /// As llama.cpp chooses: in the deepest folder above the model, the one with the nearest number of bits, the first
    /// on ties. Projectors of several models are distinguished by the rest of their names.
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
