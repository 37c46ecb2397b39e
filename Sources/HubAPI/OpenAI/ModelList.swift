import HubCore

/// Models as `/v1/models` shows them.
enum ModelList {
    static func list(_ models: [CachedModel]) -> JSON {
        .object(["object": "list", "data": .array(models.map(entry))])
    }

    static func entry(_ model: CachedModel) -> JSON {
        .object([
            "id": .string(model.id), "object": "model", "created": .int(Int64(model.modified)),
            "owned_by": .string(String(model.reference.repository.id.name.split(separator: "/")[0])),
            // Not OpenAI's: which of them generate text, and how much their weights take.
            "task": ModelKind.task(of: model).map { .string($0) }, "size_bytes": .int(model.bytes),
        ])
    }
}
