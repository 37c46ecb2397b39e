import HubCore
import HubTokenizers
import ModelFormats

extension LanguageModel {
    /// What the head makes of texts; see ``EncoderRun/outputs(_:at:isCancelled:)``.
    func outputs(_ texts: [TextPair], cutting strategy: TruncationStrategy = .longestFirst) async throws(AIError)
        -> [[Float]]
    {
        try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            var read: [TokenizedText] = []
            for text in texts { read.append(try model.tokenized(text.first, text.second, cutting: strategy)) }
            var run = EncoderRun(model.computation, workspace)
            return try run.outputs(read.map(model.input), isCancelled: isCancelled)
        }
    }

    /// The numbers that a task is done with: vectors, outputs of the head, for masked words those of the masks, the score
    /// of a query and a text that are compared by a vector of each token.
    func numbers(_ texts: [TextPair], _ task: ModelTask) async throws(AIError) -> [TextNumbers] {
        guard task == self.task, task != .embedding else {
            return try await embed(texts.map(\.first)).map {
                TextNumbers(values: $0.vector, tokenCount: $0.tokenCount)
            }
        }
        return try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            if let tokens = model.interaction, let layers = model.sentenceLayers {
                var run = InteractionRun(model, tokens, layers, workspace)
                return try run.scores(texts, isCancelled: isCancelled)
            }
            var read: [TokenizedText] = []
            for text in texts {
                read.append(try model.tokenized(model.mask?.written(in: text.first) ?? text.first, text.second))
            }
            let masks = model.mask.map { mask in
                read.map { text in text.ids.indices.filter { text.ids[$0] == mask.id } }
            }
            var run = EncoderRun(model.computation, workspace)
            let outputs = try run.outputs(read.map(model.input), at: masks, isCancelled: isCancelled)
            return zip(outputs, read).map { TextNumbers(values: $0, tokenCount: $1.ids.count) }
        }
    }

    /// - Parameter what: the model does not do: `it fills no masks`.
    func mismatch(_ what: String) -> AIError {
        .unsupported(inspection.folder, "the model is for \(task.rawValue); \(what)")
    }
}
