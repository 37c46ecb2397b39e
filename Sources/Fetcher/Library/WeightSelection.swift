package import Catalog
package import HubCore
package import ModelFormats

/// Which of a repository's sets of weights is fetched, and what goes with it.
package struct WeightSelection: Sendable {
    /// Why a set of weights, or a file beside it, is taken.
    package enum Reason: Sendable {
        /// An alias means this quantization.
        case alias(String)
        /// The best for this machine; of many quantized sets the largest that fits in the bytes.
        case automatic(largestThatFits: Int64?)
        /// The model has these parts in no other format.
        case foreign([String])
    }

    /// What was asked for.
    package var choice: WeightChoice
    /// The quantizations that aliases mean, by repository. They count where nothing else was chosen.
    package var aliasQuantizations: [RepositoryID: String] = [:]
    /// The machine to choose for.
    package var target: WeightChoice.Target
    /// What runs there; nil if that does not matter.
    package var runner: ModelRunner?

    package init(_ choice: WeightChoice, for target: WeightChoice.Target) {
        self.choice = choice
        self.target = target
    }

    /// The files of the chosen set; nil if everything is wanted.
    ///
    /// - Parameters:
    ///   - puller: asked for the model's tags, which tell MLX from other safetensors.
    ///   - tell: called with why something is taken that was not named.
    /// - Throws: ``ErrorCode/invalidInput`` for a choice among the weights of a dataset or Space;
    ///   ``ErrorCode/nothingMatches`` if there is no such set.
    package func files(
        of repository: Repository, _ tree: RepositoryTree, _ filter: FileFilter, _ puller: Puller,
        tell: (ModelVariant, Reason) -> Void
    ) async throws -> FileSelection? {
        let quantization = choice.isEverything && filter == .all ? aliasQuantizations[repository.id] : nil
        let choice = try quantization.map { try WeightChoice(format: nil, quantization: $0) } ?? choice
        guard !choice.isEverything else { return nil }
        guard repository.kind == .model else {
            throw AIError(
                .invalidInput,
                "\(repository) is not a model; --format and --quant choose among the weights of a model")
        }
        let record = try await puller.record(of: repository, at: tree.commit)
        let files = ModelFiles(tree.files, library: record?.library, tags: record?.tags ?? [])
        guard
            let variant = try choice.choose(
                from: files, of: "\(repository)", for: target, wanted: filter.matches,
                preferred: { variant in record.map { runner?.mayRun(variant, of: $0) ?? true } ?? true })
        else { return nil }
        if let quantization { tell(variant, .alias(quantization)) }
        // Of one set there is nothing to tell.
        if choice.isAutomatic, files.variants.count > 1 {
            let isOneOfMany = files.variants.filter { $0.format == .gguf }.count > 1
            let isLargest = variant.format == .gguf && isOneOfMany && !variant.isPlain
            tell(variant, .automatic(largestThatFits: isLargest ? target.weightBytes : nil))
        }
        if !variant.foreignFiles.isEmpty { tell(variant, .foreign(variant.foreignFiles)) }
        return files.selection(of: variant)
    }
}

extension ModelRunner {
    /// Whether nothing is known that keeps a set of weights from running, memory aside.
    package func mayRun(_ variant: ModelVariant, of record: ModelRecord) -> Bool {
        judge(variant, of: record)?.isPossible ?? true
    }

    /// Whether a set of weights runs, memory aside; nil if too little is known.
    package func judge(_ variant: ModelVariant, of record: ModelRecord) -> SupportedModels.Judgement? {
        judge(record, formats: [variant.format.supportedName])
    }
}
