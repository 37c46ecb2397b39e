import HubCore
import InferenceKit

/// What is known of a model that is not open, for lists.
struct ModelKind: Sendable {
    /// The Hub's name of its task; nil if that is unknown.
    var task: String?
    var abilities: ChatAbilities?

    init(_ model: CachedModel) throws {
        task = Self.task(of: model)
        abilities = try ChatAbilities(model: model.path)
    }

    /// The Hub's name of a model's task; nil if that is unknown.
    static func task(of model: CachedModel) -> String? {
        if FileSystem.exists(Path.join(model.path, "modules.json")) { return ModelTask.embedding.rawValue }
        let inspection = model.inspection
        let family = inspection.modelType.flatMap { name in
            RunnableModels.supported.family(name) ?? RunnableModels.supported.families(ggufName: name).first
        }
        return inspection.architecture.flatMap { family?.classes[$0] } ?? family?.tasks.first
    }

    /// Ollama's words for what it can do.
    var capabilities: [String] {
        switch task {
        case ModelTask.textGeneration.rawValue:
            ["completion"] + (abilities?.callsTools == true ? ["tools"] : [])
                + (abilities?.reasons == true ? ["thinking"] : [])
        case ModelTask.embedding.rawValue: ["embedding"]
        default: []
        }
    }
}
