package import HubCore

/// Which weights of a repository someone wants, and what comes of it for one repository.
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

    /// What the machine that is to run the model can do.
    package struct Target: Sendable {
        /// Physical memory.
        package var memoryBytes: Int64
        package var runsMLX: Bool

        package init(memoryBytes: Int64, runsMLX: Bool) {
            self.memoryBytes = memoryBytes
            self.runsMLX = runsMLX
        }

        /// What weights may take of the memory: three quarters. Keys, values and everybody else need the rest.
        package var weightBytes: Int64 { memoryBytes / 4 * 3 }
    }

    private let format: Format
    private let quantization: String?

    /// - Throws: ``ErrorCode/invalidInput`` for everything and one quantisation at once.
    package init(format: Format?, quantization: String?) throws(AIError) {
        if format == .all, let quantization {
            throw AIError(
                .invalidInput,
                "--format all takes every set of weights; --quant \(quantization.printable) takes one")
        }
        // A quantisation alone decides the format; so it does with `auto`.
        self.format = format ?? (quantization == nil ? .all : .auto)
        self.quantization = quantization
    }

    /// Whether every file is wanted.
    package var isEverything: Bool { format == .all }

    /// The one set that is meant; nil where the repository has no weights to choose from.
    ///
    /// - Parameters:
    ///   - repository: its name for errors.
    ///   - wanted: whether the files' own filter wants a path. Of several sets only those count that it leaves something of.
    /// - Throws: ``ErrorCode/invalidInput`` where several sets are meant, ``ErrorCode/nothingMatches`` where none is,
    ///   ``ErrorCode/insufficientMemory`` where none can be used here.
    package func choose(
        from files: ModelFiles, of repository: String, for target: Target, wanted: (String) -> Bool = { _ in true }
    ) throws(AIError) -> ModelVariant? {
        let list = WeightList(repository: repository, all: files.variants)
        if let quantization {
            return try called(quantization, list, wanted)
        }
        if let kind = format.weights {
            return try main(of: kind, list, wanted)
        }
        if files.variants.isEmpty || isEverything { return nil }
        return try best(of: Self.narrowed(files.variants, wanted), list, target)
    }

    private static func narrowed(_ variants: [ModelVariant], _ wanted: (String) -> Bool) -> [ModelVariant] {
        let narrowed = variants.filter { $0.files.contains(where: wanted) }
        return narrowed.isEmpty ? variants : narrowed
    }

    /// Whether a set answers to `--format`. What is MLX is safetensors as well.
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
        // Alone it means GGUF; where there is none, any format's.
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
        // The same name in two formats: the better one, as everywhere.
        let format = found.map(\.format).min()
        found = Self.narrowed(found.filter { $0.format == format }, wanted)
        guard found.count == 1 else { throw list.ambiguous(found, "sets of weights called \(name.printable)") }
        return found[0]
    }

    // MARK: What this machine can use

    /// The first that leaves memory to run it: by format, MLX first where there is MLX; in a format the main set before its
    /// variants; of GGUF the largest quantised one, for a plain 16-bit one is twice as large and hardly better.
    private func best(of variants: [ModelVariant], _ list: WeightList, _ target: Target) throws(AIError)
        -> ModelVariant
    {
        func rank(_ variant: ModelVariant) -> (Int, WeightFormat, Int, Int64) {
            let first = target.runsMLX && variant.format == .mlx ? 0 : 1
            guard variant.format == .gguf else {
                return (first, variant.format, variant.isMain ? 0 : 1, -variant.sizeBytes)
            }
            return (first, .gguf, variant.isPlain ? 1 : 0, variant.isPlain ? variant.sizeBytes : -variant.sizeBytes)
        }
        // Another training state or another edition of the whole is nothing to fall back on.
        let mains = Set(variants.filter { $0.isMain && $0.format != .gguf }.map(\.format))
        let candidates = variants.filter { variant in
            !mains.contains(variant.format) || variant.isMain || variant.scope.isEmpty && variant.edition.isEmpty
        }
        let ranked = candidates.sorted { rank($0) < rank($1) }
        if let best = ranked.first(where: { $0.sizeBytes <= target.weightBytes }) { return best }
        throw list.tooLarge(candidates, target)
    }
}

/// What a repository has, for people who asked for something else.
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

    /// A line for each: what `--quant` calls it, its size, and its format where the name is not that.
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
