import HubCore
package import InferenceKit

/// What is known of a model that is not open, for lists.
package struct ModelKind: Sendable {
    /// The Hub's name of its task; nil if that is unknown.
    var task: String?
    var abilities: ChatAbilities?

    init(_ model: CachedModel) throws {
        task = Self.task(of: model)
        abilities = try ChatAbilities(model: model.path)
    }

    /// The Hub's name of a model's task; nil if that is unknown.
    static func task(of model: CachedModel) -> String? { task(of: model.inspection, at: model.path) }

    /// The same of a folder or a GGUF file.
    package static func task(of inspection: ModelInspection, at path: String) -> String? {
        if let task = ModelTask.ofModules(in: path) { return task.rawValue }
        let family = inspection.modelType.flatMap { name in
            RunnableModels.supported.family(name) ?? RunnableModels.supported.families(ggufName: name).first
        }
        return inspection.architecture.flatMap { family?.classes[$0] } ?? family?.tasks.first
    }

    /// Whether one talks with a model for a task: what only continues or translates texts has no chat template.
    package static func chats(_ inspection: ModelInspection, as task: String?) -> Bool {
        task == ModelTask.textGeneration.rawValue && inspection.hasChatTemplate
    }

    /// Ollama's words for what it can do.
    var capabilities: [String] {
        switch task {
        case ModelTask.textGeneration.rawValue:
            ["completion"] + (abilities?.callsTools == true ? ["tools"] : [])
                + (abilities?.reasons == true ? ["thinking"] : [])
        // Of a model with vectors of pictures and texts, the API takes texts.
        case ModelTask.embedding.rawValue, ModelTask.zeroShotImages.rawValue: ["embedding"]
        default: []
        }
    }
}
