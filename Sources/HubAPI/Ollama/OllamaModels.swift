import HubCore
import InferenceKit

/// Models as Ollama lists and shows them.
enum OllamaModels {
    static func tags(_ models: [CachedModel]) -> JSON {
        .object(["models": .array(models.map { .object(entry($0)) })])
    }

    static func running(_ entries: [ModelPool.Entry]) -> JSON {
        let models = entries.map { open in
            var entry = entry(open.model.cached)
            entry["modified_at"] = nil
            entry["size"] = .int(open.memoryBytes)
            // What stays for ever has a date that nobody lives to see.
            entry["expires_at"] = OllamaTime.date(open.expires ?? Timestamp.now + 100 * 365 * 86_400)
            entry["size_vram"] = 0
            entry["context_length"] = open.model.texts.map { .int(Int64($0.context)) }
            return JSON.object(entry)
        }
        return .object(["models": .array(models)])
    }

    private static func entry(_ model: CachedModel) -> JSONObject {
        [
            "name": .string(model.id), "model": .string(model.id), "modified_at": OllamaTime.date(model.modified),
            "size": .int(model.bytes), "digest": .string(model.digest), "details": details(model),
        ]
    }

    private static func details(_ model: CachedModel) -> JSON {
        let family = model.inspection.modelType ?? ""
        return .object([
            "parent_model": "", "format": .string(model.format.lowercased()), "family": .string(family),
            "families": .array(family.isEmpty ? [] : [.string(family)]),
            "parameter_size": .string(size(model.inspection.parameters)),
            "quantization_level": .string(model.quantization ?? model.inspection.dominantDataType ?? ""),
        ])
    }

    /// `7.6B`, `134.52M`
    private static func size(_ parameters: Int64) -> String {
        func rounded(_ value: Double, _ digits: Double) -> String { "\((value * digits).rounded() / digits)" }
        let count = Double(parameters)
        if count >= 1e9 { return rounded(count / 1e9, 10) + "B" }
        return count >= 1e6 ? rounded(count / 1e6, 100) + "M" : rounded(count / 1e3, 100) + "K"
    }

    static func show(_ model: CachedModel) throws -> JSON {
        let kind = try ModelKind(model)
        let inspection = model.inspection
        let family = inspection.modelType ?? "unknown"
        var info: JSONObject = [
            "general.architecture": .string(family),
            "general.parameter_count": .int(inspection.parameters),
        ]
        let sizes = [
            ("context_length", inspection.contextLength), ("embedding_length", inspection.hiddenSize),
            ("block_count", inspection.layers), ("attention.head_count", inspection.heads),
            ("attention.head_count_kv", inspection.kvHeads), ("vocab_size", inspection.vocabulary),
        ]
        for (name, value) in sizes { info["\(family).\(name)"] = value.map { .int(Int64($0)) } }
        return .object([
            "modelfile": .string("FROM \(model.id)\n"), "parameters": "",
            "template": .string(kind.abilities?.template ?? ""),
            "license": inspection.license.map { .string($0) }, "details": details(model),
            "model_info": .object(info), "capabilities": .array(kind.capabilities.map { .string($0) }),
            "modified_at": OllamaTime.date(model.modified),
        ])
    }
}
