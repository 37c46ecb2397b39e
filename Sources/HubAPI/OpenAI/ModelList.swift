import HubCore
import InferenceKit

/// Models as `/v1/models` shows them.
enum ModelList {
    static func list(_ models: [CachedModel]) -> JSON {
        .object(["object": "list", "data": .array(models.map(entry))])
    }

    static func entry(_ model: CachedModel) -> JSON {
        let task = ModelKind.task(of: model)
        return .object([
            "id": .string(model.id), "object": "model", "created": .int(Int64(model.modified)),
            "owned_by": .string(String(model.reference.repository.id.name.split(separator: "/")[0])),
            // Not OpenAI's: what they are for, which of them chat, and how much their weights take.
            "task": task.map { .string($0) },
            "chat": .bool(ModelKind.chats(model.inspection, as: task)),
            "size_bytes": .int(model.bytes),
        ])
    }
}
