import HubCore
import HubTokenizers

/// Texts to vectors.
struct EmbeddingRun {
    private let model: LoadedModel
    private let sentences: SentenceModules
    private var run: EncoderRun

    init(_ model: LoadedModel, _ sentences: SentenceModules, _ workspace: Workspace) {
        (self.model, self.sentences, run) = (model, sentences, EncoderRun(model, workspace))
    }

    mutating func run(_ texts: [String], isCancelled: () -> Bool) throws(AIError) -> [EmbeddingResult] {
        var all: [TokenizedText] = []
        for text in texts { all.append(try model.tokenized(text)) }
        let width = model.model.description.width
        var results = [EmbeddingResult?](repeating: nil, count: texts.count)
        try run.rows(all, isCancelled: isCancelled) { index, rows in
            let count = all[index].ids.count
            results[index] = EmbeddingResult(
                vector: RowPooling.apply(sentences, rows, count: count, width: width), tokenCount: count)
        }
        return results.compactMap { $0 }
    }
}
