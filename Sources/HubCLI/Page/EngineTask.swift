import HubAPI
import HubCore
import InferenceKit

/// What models are for, in words of the page.
extension ModelTask {
    /// The task of a cached model; nil if it is unknown. Blocks.
    static func ofModel(in folder: String) -> ModelTask? {
        guard let inspection = try? ModelInspection.outline(folder) else { return nil }
        return ModelKind.task(of: inspection, at: folder).flatMap(ModelTask.init(rawValue:))
    }

    /// What the engine does with models of one of the Hub's tasks; nil for tasks that it does not know.
    init?(ofHub task: String) {
        switch task {
        case "sentence-similarity": self = .embedding
        case "zero-shot-classification": self = .classification
        case "translation", "summarization", "text2text-generation", "image-text-to-text", "any-to-any":
            self = .textGeneration
        default: self.init(rawValue: task)
        }
    }

    /// The commands that use a model for it.
    func commands(_ model: String) -> [String] {
        switch self {
        case .textGeneration: ["hub chat \(ShellQuoting.word(model))"]
        case .embedding:
            ["hub embed \(ShellQuoting.word(model)) 'A ship at sea'", example(model, mask: nil)]
        case .zeroShotImages:
            [
                example(model, mask: nil), "hub rank \(ShellQuoting.word(model)) 'a red car' --attach FILE.jpg",
                "hub embed \(ShellQuoting.word(model)) 'a red car' --attach FILE.jpg",
            ]
        default: [example(model, mask: nil)]
        }
    }
}
