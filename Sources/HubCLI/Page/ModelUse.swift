import HubAPI
import HubCore
import InferenceKit

/// What a model is for, in words of the page.
struct ModelUse: Sendable {
    var task: ModelTask
    /// Whether one talks with it.
    var chats: Bool

    init(_ task: ModelTask, chats: Bool = false) { (self.task, self.chats) = (task, chats) }

    /// The use of a cached model; nil if it is unknown. Blocks.
    init?(in folder: String) {
        guard let inspection = try? ModelInspection.outline(folder),
            let task = ModelKind.task(of: inspection, at: folder).flatMap(ModelTask.init(rawValue:))
        else { return nil }
        self.init(task, chats: ModelKind.chats(inspection, as: task.rawValue))
    }

    /// What the engine does with models of one of the Hub's tasks; nil for tasks that it does not know.
    init?(ofHub task: String) {
        switch task {
        case "sentence-similarity": self.init(.embedding)
        case "zero-shot-classification": self.init(.classification)
        case "translation", "summarization", "text2text-generation": self.init(.textGeneration)
        case "image-text-to-text", "any-to-any": self.init(.textGeneration, chats: true)
        default:
            guard let task = ModelTask(rawValue: task) else { return nil }
            self.init(task, chats: task == .textGeneration)
        }
    }

    /// The commands that use a model for it.
    func commands(_ model: String) -> [String] {
        switch task {
        case .textGeneration where chats: ["hub chat \(ShellQuoting.word(model))"]
        case .embedding:
            ["hub embed \(ShellQuoting.word(model)) 'A ship at sea'", task.example(model, mask: nil)]
        case .zeroShotImages:
            [
                task.example(model, mask: nil),
                "hub rank \(ShellQuoting.word(model)) 'a red car' --attach FILE.jpg",
                "hub embed \(ShellQuoting.word(model)) 'a red car' --attach FILE.jpg",
            ]
        default: [task.example(model, mask: nil)]
        }
    }
}
