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
        let d = model.model.description
        var results = [EmbeddingResult?](repeating: nil, count: texts.count)
        let (sentences, layers, options, team) = (sentences, layers, options, model.team)
        let inputs = all.map(model.input)
        func keep(_ index: Int, _ pooled: [Float]) {
            let vector = Array(layers.apply(pooled, team).prefix(dimensions))
            results[index] = EmbeddingResult(
                vector: options.normalizes ? SentenceLayers.unit(vector) : vector, tokenCount: all[index].ids.count)
        }
        if d.hasVectorHead {
            let outputs = try run.outputs(inputs, isCancelled: isCancelled)
            for (index, vector) in outputs.enumerated() { keep(index, vector) }
        } else {
            try run.rows(inputs, isCancelled: isCancelled) { index, rows in
                keep(
                    index,
                    RowPooling.apply(
                        sentences.poolings, rows, count: inputs[index].count, width: d.width, skipped: skipped))
            }
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
