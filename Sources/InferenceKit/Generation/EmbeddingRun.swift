import HubCore
import HubTokenizers

/// Texts to vectors: as many texts in a step as fit.
struct EmbeddingRun {
    private let model: LoadedModel
    private let sentences: SentenceModules
    private let workspace: Workspace
    /// Caches of earlier steps.
    private var caches: [KeyValueCache] = []

    init(_ model: LoadedModel, _ sentences: SentenceModules, _ workspace: Workspace) {
        (self.model, self.sentences, self.workspace) = (model, sentences, workspace)
    }

    mutating func run(_ texts: [String], isCancelled: () -> Bool) throws(AIError) -> [EmbeddingResult] {
        var ids: [[Int]] = []
        for text in texts { ids.append(try tokens(text)) }
        var results = [EmbeddingResult?](repeating: nil, count: texts.count)
        // By length: the texts of a step are then alike, which suits caches and threads.
        var rest = ids.indices.sorted { ids[$0].count < ids[$1].count }[...]
        while let first = rest.first {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            if ids[first].count > workspace.rows {
                results[first] = try long(ids[first], isCancelled)
                rest = rest.dropFirst()
                continue
            }
            var (piece, rows) = (0, 0)
            for index in rest where rows + ids[index].count <= workspace.rows {
                piece += 1
                rows += ids[index].count
            }
            step(rest.prefix(piece).map { ($0, ids[$0]) }, &results)
            rest = rest.dropFirst(piece)
        }
        return results.compactMap { $0 }
    }

    /// A text's ids with special tokens, cut to what the model takes; the last one stays, for it marks the end.
    private func tokens(_ text: String) throws(AIError) -> [Int] {
        let all = try model.tokenizer.encode(text, addSpecialTokens: true)
        guard let last = all.last else { throw AIError(.invalidInput, "a text has no tokens") }
        let most = min(sentences.maxTokens ?? .max, model.context)
        let ids = all.count > most ? all.prefix(most - 1) + [last] : all
        try model.checkEmbedded(ids)
        return ids
    }

    private mutating func step(_ texts: [(index: Int, ids: [Int])], _ results: inout [EmbeddingResult?]) {
        var step = Step()
        while caches.count < texts.count {
            caches.append(
                KeyValueCache(
                    model.model.description.cacheShapes, format: model.cacheFormat.kernel, capacity: model.context))
        }
        for (place, text) in texts.enumerated() {
            caches[place].truncate(to: 0, keepsPages: true)
            for (position, id) in text.ids.enumerated() {
                step.append(StepRow(cache: caches[place], position: position, id: id, length: text.ids.count))
            }
        }
        model.model.run(step, workspace)
        let width = model.model.description.width
        var row = model.model.lastRows(step.count, workspace).start
        for text in texts {
            results[text.index] = result(row, text.ids.count)
            row += text.ids.count * width
        }
    }

    /// A text that a decoder reads in several steps.
    private func long(_ ids: [Int], _ isCancelled: () -> Bool) throws(AIError) -> EmbeddingResult {
        let width = model.model.description.width
        let rows = FloatBuffer(ids.count * width)
        var count = 0
        func keep(_ piece: Int) {
            (rows.start + count * width).update(
                from: model.model.lastRows(piece, workspace).start, count: piece * width)
            count += piece
        }
        try model.session().run(
            anew: ids, workspace, logitsFrom: .max, isCancelled: isCancelled, each: keep
        ) { _, _ in }
        return result(rows.start, count)
    }

    private func result(_ rows: UnsafePointer<Float>, _ count: Int) -> EmbeddingResult {
        let width = model.model.description.width
        return EmbeddingResult(
            vector: RowPooling.apply(sentences, rows, count: count, width: width), tokenCount: count)
    }
}
