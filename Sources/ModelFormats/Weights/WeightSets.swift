import HubCore

/// Collects weight files into sets.
struct WeightSets {
    /// One part of a model (`unet/diffusion_pytorch_model`) by its variants; the empty one is the default.
    private struct Part {
        var files: [String: [RepositoryFile]] = [:]
        var companions: [String: [String]] = [:]
        var isKnown = false
    }

    private struct Members {
        var files: [RepositoryFile] = []
        var companions: [String] = []
    }

    private typealias Parts = [String: Part]
    private var sets: [WeightName.SetID: Parts] = [:]
    private var quantizations: [WeightName.SetID: GGUFQuantization] = [:]

    mutating func add(_ file: RepositoryFile, _ name: WeightName) {
        var part = sets[name.set]?[name.part] ?? Part()
        let variant = name.variant ?? ""
        if name.isCompanion {
            part.companions[variant, default: []].append(file.path)
        } else {
            part.files[variant, default: []].append(file)
            part.isKnown = part.isKnown || name.isKnown
        }
        sets[name.set, default: [:]][name.part] = part
        if let quantization = name.quantization { quantizations[name.set] = quantization }
    }

    /// Removes and returns companions of missing weights.
    mutating func takeOrphans() -> [(path: String, scope: String)] {
        var orphans: [(path: String, scope: String)] = []
        for (id, parts) in sets where parts.values.allSatisfy({ $0.files.isEmpty }) {
            sets[id] = nil
            orphans += parts.values.flatMap { $0.companions.values.joined() }.map { ($0, id.scope) }
        }
        return orphans
    }

    /// The sets, the smallest first.
    func variants(mlxQuantization: String?) -> [ModelVariant] {
        var found: [ModelVariant] = []
        let names = ggufNames()
        for (id, parts) in sets where !isPartOfAnother(id) {
            let foreign = missingParts(of: id)
            // The default variant exists if any part has it.
            let usual = parts.values.contains { !($0.files[""] ?? []).isEmpty }
            var variants = Set(parts.values.flatMap(\.files.keys)).subtracting([""]).sorted()
            if usual { variants.insert("", at: 0) }
            for variant in variants {
                var members = members(of: parts, variant: variant)
                members.files += foreign
                found.append(made(id, parts, variant, members, names[id], mlxQuantization))
            }
        }
        // The only set of a format is its main one, whatever its name.
        let counts = Dictionary(found.map { ($0.format, 1) }, uniquingKeysWith: +)
        for index in found.indices where counts[found[index].format] == 1 { found[index].isMain = true }
        return found.sorted {
            ($0.sizeBytes, $0.name, $0.format.identifier) < ($1.sizeBytes, $1.name, $1.format.identifier)
        }
    }

    /// The parts in this variant, or in the default if they lack it, as Diffusers loads them.
    private func members(of parts: Parts, variant: String) -> Members {
        var members = Members()
        for part in parts.values {
            let key = part.files[variant] == nil ? "" : variant
            members.files += part.files[key] ?? []
            members.companions += part.companions[key] ?? []
        }
        return members
    }

    // MARK: Parts in another format

    /// The same model in formats that can be loaded together.
    private func neighbours(of id: WeightName.SetID) -> [WeightName.SetID] {
        guard id.format.isLoadable, id.edition.isEmpty else { return [] }
        return WeightFormat.allCases.filter { $0.isLoadable && $0 != id.format }
            .map { WeightName.SetID(format: $0, scope: id.scope, edition: "") }.filter { sets[$0] != nil }
    }

    private func isKnown(_ id: WeightName.SetID) -> Bool { sets[id]!.values.contains(where: \.isKnown) }

    /// A Lightning checkpoint is a separate model, not a part.
    private static func isCheckpoint(_ file: RepositoryFile) -> Bool { file.path.hasSuffix(".ckpt") }

    /// Parts that exist only in another format: a dense layer as a pickle, beside a model in safetensors.
    private func missingParts(of id: WeightName.SetID) -> [RepositoryFile] {
        neighbours(of: id).filter { isKnown(id) || !isKnown($0) }.flatMap { other in
            sets[other]!.filter { sets[id]![$0.key] == nil }.flatMap { $0.value.files[""] ?? [] }
        }.filter { !Self.isCheckpoint($0) }
    }

    /// Whether a set consists only of parts that complete another set.
    private func isPartOfAnother(_ id: WeightName.SetID) -> Bool {
        let parts = sets[id]!
        guard !parts.values.contains(where: { $0.files.values.joined().contains(where: Self.isCheckpoint) }) else {
            return false
        }
        return neighbours(of: id).contains { other in
            guard parts.keys.allSatisfy({ sets[other]![$0] == nil }) else { return false }
            return isKnown(id) == isKnown(other) ? other.format < id.format : isKnown(other)
        }
    }

    // MARK: Names

    private func made(
        _ id: WeightName.SetID, _ parts: Parts, _ variant: String, _ members: Members, _ ggufName: String?,
        _ mlxQuantization: String?
    ) -> ModelVariant {
        let quantization = quantizations[id]
        let isAdapter =
            id.scope.isEmpty && id.edition.isEmpty && parts.keys.allSatisfy { Path.name($0) == "adapter_model" }
        var name =
            ggufName
            ?? [id.scope, isAdapter ? "adapter" : id.edition, variant].filter { !$0.isEmpty }
            .joined(separator: "/")
        if name.isEmpty { name = id.format.identifier }
        // The folder mlx of a repository that is MLX at the top level too.
        let usual = WeightName.SetID(format: id.format, scope: "", edition: "")
        if name == id.scope, name == id.format.identifier, sets[usual] != nil { name += "/" }
        return ModelVariant(
            name: name, format: id.format,
            quantization: quantization?.name ?? (id.format == .mlx ? mlxQuantization : nil),
            files: members.files.map(\.path).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) },
            sizeBytes: members.files.reduce(ByteCount(0)) { $0 + ByteCount($1.size) }.bytes,
            isMain: id.scope.isEmpty && id.edition.isEmpty && variant.isEmpty, bits: quantization?.bits,
            scope: id.scope, edition: id.edition, companions: members.companions.sorted())
    }

    /// The quantisation if only one set has it, else the path without extension.
    private func ggufNames() -> [WeightName.SetID: String] {
        let ids = sets.keys.filter { $0.format == .gguf }
        let names = ids.map { quantizations[$0]?.name ?? $0.edition }
        let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
        return Dictionary(uniqueKeysWithValues: zip(ids, names).map { ($0, counts[$1] == 1 ? $1 : $0.edition) })
    }
}
