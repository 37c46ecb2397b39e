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
            var run = EncoderRun(model, workspace)
            return try run.outputs(read, isCancelled: isCancelled)
        }
    }

    /// - Parameter what: the model does not do: `it fills no masks`.
    func mismatch(_ what: String) -> AIError {
        .unsupported(inspection.folder, "the model is for \(task.rawValue); \(what)")
    }
}
