package import HubCore

/// The user's choice of weights, and its resolution for a repository.
package struct WeightChoice: Sendable {
    /// The values of `--format`.
    package enum Format: String, Sendable, CaseIterable {
        case auto, safetensors, gguf, mlx, all

        fileprivate var weights: WeightFormat? {
            switch self {
            case .auto, .all: nil
            case .safetensors: .safetensors
            case .gguf: .gguf
            case .mlx: .mlx
            }
        }
    }

    /// The machine that will run the model.
    package struct Target: Sendable {
        /// Physical memory.
        package var memoryBytes: Int64
        package var runsMLX: Bool

        package init(memoryBytes: Int64, runsMLX: Bool) {
            self.memoryBytes = memoryBytes
            self.runsMLX = runsMLX
        }

        /// Maximum bytes of weights: three quarters of the memory. The KV cache and other programs need the rest.
        package var weightBytes: Int64 { memoryBytes / 4 * 3 }
    }

    private let format: Format
    private let quantization: String?

    /// - Throws: ``ErrorCode/invalidInput`` for `all` together with a quantisation.
    package init(format: Format?, quantization: String?) throws(AIError) {
        if format == .all, let quantization {
            throw AIError(
                .invalidInput,
                "--format all takes every set of weights; --quant \(quantization.printable) takes one")
        }
        // A quantisation alone, or with `auto`, decides the format.
        self.format = format ?? (quantization == nil ? .all : .auto)
        self.quantization = quantization
    }

    /// Whether every file is wanted.
    package var isEverything: Bool { format == .all }

    /// Whether the best set for the machine is wanted, whatever its name.
    package var isAutomatic: Bool { format == .auto && quantization == nil }

    /// The chosen set; nil if the repository has no weights to choose from.
    ///
    /// - Parameters:
    ///   - repository: its name, for errors.
    ///   - wanted: whether the file filter accepts a path. Sets that it leaves empty do not count.
    ///   - preferred: whether a set may run; others are chosen for this machine only if there is no such set.
    /// - Throws: ``ErrorCode/invalidInput`` if several sets match, ``ErrorCode/nothingMatches`` if none does,
    ///   ``ErrorCode/insufficientMemory`` if none fits this machine.
    package func choose(
        from files: ModelFiles, of repository: String, for target: Target,
        wanted: (String) -> Bool = { _ in true }, preferred: (ModelVariant) -> Bool = { _ in true }
    ) throws(AIError) -> ModelVariant? {
        let list = WeightList(repository: repository, all: files.variants)
        if let quantization {
            return try called(quantization, list, wanted)
        }
        if let kind = format.weights {
            return try main(of: kind, list, wanted)
        }
        if files.variants.isEmpty || isEverything { return nil }
        let variants = Self.narrowed(files.variants, wanted)
        let usable = variants.filter(preferred)
        return try best(of: usable.isEmpty ? variants : usable, list, target)
    }

    private static func narrowed(_ variants: [ModelVariant], _ wanted: (String) -> Bool) -> [ModelVariant] {
        let narrowed = variants.filter { $0.files.contains(where: wanted) }
        return narrowed.isEmpty ? variants : narrowed
    }

    /// Whether a set matches `--format`. MLX counts as safetensors too.
    private static func isOf(_ kind: WeightFormat, _ variant: ModelVariant) -> Bool {
        variant.format == kind || kind == .safetensors && variant.format == .mlx
    }

    private func main(of kind: WeightFormat, _ list: WeightList, _ wanted: (String) -> Bool) throws(AIError)
        -> ModelVariant
    {
        var found = list.all.filter { Self.isOf(kind, $0) }
        guard !found.isEmpty else { throw list.nothing("no \(kind.rawValue) weights") }
        if found.contains(where: { $0.format == kind }) { found.removeAll { $0.format != kind } }
        found = Self.narrowed(found, wanted)
        if let main = found.first(where: \.isMain) { return main }
        guard found.count == 1 else { throw list.ambiguous(found, "sets of \(kind.rawValue) weights") }
        return found[0]
    }

    private func called(_ name: String, _ list: WeightList, _ wanted: (String) -> Bool) throws(AIError)
        -> ModelVariant
    {
        // Alone it means GGUF; without GGUF any format.
        let kind = format.weights ?? (list.all.contains { $0.format == .gguf } ? .gguf : nil)
        let candidates = list.all.filter { variant in kind.map { Self.isOf($0, variant) } ?? true }
        guard !candidates.isEmpty else {
            throw list.nothing(kind.map { "no \($0.rawValue) weights" } ?? "no weights")
        }
        let nearest = candidates.compactMap { $0.distance(to: name) }.min()
        var found = candidates.filter { nearest != nil && $0.distance(to: name) == nearest }
        guard !found.isEmpty else {
            let words = kind.map { "\($0.rawValue) weights" } ?? "weights"
            throw list.nothing("no \(words) called \(name.printable)")
        }
        // The same name in two formats: the preferred format.
        let format = found.map(\.format).min()
        found = Self.narrowed(found.filter { $0.format == format }, wanted)
        guard found.count == 1 else { throw list.ambiguous(found, "sets of weights called \(name.printable)") }
        return found[0]
    }

    // MARK: What this machine can use

    /// The set that is opened where nobody chose one: the best for the machine, else the smallest; nil if there are no
    /// weights.
    ///
    /// - Parameter preferred: whether a set may run; others are taken only if there is no such set.
    package static func usual(
        of files: ModelFiles, for target: Target, preferred: (ModelVariant) -> Bool = { _ in true }
    ) -> ModelVariant? {
        let usable = files.variants.filter(preferred)
        let variants = usable.isEmpty ? files.variants : usable
        return ranked(variants, target).first { $0.sizeBytes <= target.weightBytes } ?? variants.first
    }

    /// The first that leaves memory to run.
    private func best(of variants: [ModelVariant], _ list: WeightList, _ target: Target) throws(AIError)
        -> ModelVariant
    {
        let ranked = Self.ranked(variants, target)
        if let best = ranked.first(where: { $0.sizeBytes <= target.weightBytes }) { return best }
        throw list.tooLarge(variants.filter(ranked.contains), target)
    }

    /// By format, MLX first if supported; within a format the main set first; for GGUF the largest quantised one, because
    /// 16 bits are twice as large and hardly better.
    private static func ranked(_ variants: [ModelVariant], _ target: Target) -> [ModelVariant] {
        func rank(_ variant: ModelVariant) -> (Int, WeightFormat, Int, Int64) {
            let first = target.runsMLX && variant.format == .mlx ? 0 : 1
            guard variant.format == .gguf else {
                return (first, variant.format, variant.isMain ? 0 : 1, -variant.sizeBytes)
            }
            return (first, .gguf, variant.isPlain ? 1 : 0, variant.isPlain ? variant.sizeBytes : -variant.sizeBytes)
        }
        // Training states and other editions are not fallbacks.
        let mains = Set(variants.filter { $0.isMain && $0.format != .gguf }.map(\.format))
        let candidates = variants.filter { variant in
            !mains.contains(variant.format) || variant.isMain || variant.scope.isEmpty && variant.edition.isEmpty
        }
        return candidates.sorted { rank($0) < rank($1) }
    }
}

/// The list of a repository's sets, for error messages.
private struct WeightList {
    let repository: String
    let all: [ModelVariant]

    func nothing(_ what: String) -> AIError {
        let advice =
            all.isEmpty
            ? "none of its files looks like weights; leave out --format and --quant to fetch all files"
            : "it has\n" + lines(all)
        return AIError(
            .nothingMatches, "\(repository) has \(what)", advice: advice, context: .init(repository: repository))
    }

    func ambiguous(_ variants: [ModelVariant], _ what: String) -> AIError {
        AIError(
            .invalidInput, "\(repository) has \(variants.count) \(what); --quant chooses one",
            advice: lines(variants), context: .init(repository: repository))
    }

    func tooLarge(_ variants: [ModelVariant], _ target: WeightChoice.Target) -> AIError {
        AIError(
            .insufficientMemory,
            "no weights of \(repository) fit in \(ByteCount(target.weightBytes)), three quarters of this machine's memory",
            advice: lines(variants) + "\n--format or --quant takes one anyway",
            context: .init(repository: repository))
    }

    /// A line for each: its `--quant` name, size, and format if the name differs.
    private func lines(_ variants: [ModelVariant]) -> String {
        let names = variants.map(\.name.printable)
        let sizes = variants.map { ByteCount($0.sizeBytes).description }
        let (nameWidth, sizeWidth) = (names.map(\.count).max() ?? 0, sizes.map(\.count).max() ?? 0)
        return variants.indices.map { index in
            let (name, size, format) = (names[index], sizes[index], variants[index].format.identifier)
            return name + String(repeating: " ", count: nameWidth - name.count + 2)
                + String(repeating: " ", count: sizeWidth - size.count) + size
                + (name == format ? "" : "  \(format)")
        }.joined(separator: "\n")
    }
}
