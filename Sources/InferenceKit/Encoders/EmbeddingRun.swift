import HubCore
import HubTokenizers
import ModelFormats

/// Texts to vectors.
struct EmbeddingRun {
    private let model: LoadedModel
    private let sentences: SentenceModules
    private let layers: SentenceLayers
    private let options: EmbeddingOptions
    private var run: EncoderRun

    init(
        _ model: LoadedModel, _ sentences: SentenceModules, _ layers: SentenceLayers, _ options: EmbeddingOptions,
        _ workspace: Workspace
    ) {
        (self.model, self.sentences, self.layers, self.options) = (model, sentences, layers, options)
        run = EncoderRun(model.computation, workspace)
    }

    mutating func run(_ texts: [String], isCancelled: () -> Bool) throws(AIError) -> [EmbeddingResult] {
        let dimensions = options.dimensions ?? layers.width
        guard (1...layers.width).contains(dimensions) else {
            throw AIError(
                .invalidInput, "vectors of \(dimensions) numbers are not possible: this model makes \(layers.width)"
            )
        }
        if let name = options.promptName, model.model.description.additions.contains(name) {
            throw .unsupported(
                model.configuration.path, "the low-rank additions for \"\(name.printable)\" cannot be run yet")
        }
        let prompt = try sentences.prompts.text(options.promptName)
        let skipped = sentences.includesPrompt || prompt.isEmpty ? 0 : try length(prompt)
        var all: [TokenizedText] = []
        for text in texts { all.append(try model.tokenized(prompt + text)) }
        let width = model.model.description.width
        var results = [EmbeddingResult?](repeating: nil, count: texts.count)
        let (sentences, layers, options, team) = (sentences, layers, options, model.team)
        try run.rows(all.map(model.input), isCancelled: isCancelled) { index, rows in
            let count = all[index].ids.count
            let pooled = RowPooling.apply(
                sentences.poolings, rows, count: count, width: width, skipped: skipped)
            let vector = Array(layers.apply(pooled, team).prefix(dimensions))
            results[index] = EmbeddingResult(
                vector: options.normalizes ? SentenceLayers.unit(vector) : vector, tokenCount: count)
        }
        try layers.checkIntact()
        for result in results { _ = try result?.vector.checkedFinite() }
        return results.compactMap { $0 }
    }

    /// The tokens of a prompt without a special one at its end.
    private func length(_ prompt: String) throws(AIError) -> Int {
        let ids = try model.tokenized(prompt).ids
        return ids.last.map(model.tokenizer.isSpecial) == true ? ids.count - 1 : ids.count
    }
}
