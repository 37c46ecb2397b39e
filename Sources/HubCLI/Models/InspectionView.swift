import HubCore
import InferenceKit

/// What a model's headers say, in the forms of the contract: for `hub try --inspect` and `hub info --inspect`.
struct InspectionView {
    let facts: ModelInspection
    /// The context for the memory estimate; nil for the default of `hub try`.
    var context: Int?
    /// How keys and values are cached; as `hub try` does without flags.
    var cacheFormat = ModelOptions().usedCacheFormat
    /// Physical memory in bytes.
    let memoryTotal: Int64

    private var memory: Int64 { facts.memoryBytes(context: context, cacheFormat: cacheFormat) }
    private var positions: Int { context ?? facts.usualContext }
    private var cacheBytes: Int64? { facts.cacheBytesPerPosition(as: cacheFormat) }
    /// nil if it is not known what is kept of a position and the weights alone do fit.
    private var fits: Bool? {
        if cacheBytes == nil { return facts.weightsBytes <= memoryTotal ? nil : false }
        return memory <= memoryTotal
    }
    /// Whether what is needed depends on how long the text is.
    private var hasPositions: Bool { (cacheBytes ?? 0) > 0 }

    /// nil if it is not known.
    var memoryBytes: Int64? { cacheBytes == nil ? nil : memory }

    /// Each line's name and text, and whether it is bad news; the first ones say what it is.
    var lines: [(name: String, text: String, isBad: Bool)] {
        var lines: [(name: String, text: String, isBad: Bool)] = []
        func add(_ name: String, _ text: String?, isBad: Bool = false) {
            if let text, !text.isEmpty { lines.append((name, text, isBad)) }
        }
        add("model", model)
        add("file", facts.file)
        add("shape", shape)
        add("parts", parts)
        add("types", types)
        add("quantized", facts.quantization)
        add(
            "weights",
            facts.bitsPerWeight.map { "\(ByteCount(facts.weightsBytes)), \(Self.rounded($0)) bits per weight" })
        add("KV cache", cache)
        add("memory", memoryText, isBad: fits == false)
        add("tokenizer", tokenizer)
        add("license", facts.license)
        for obstacle in facts.obstacles { add("obstacle", "cannot be run yet: \(obstacle.text)", isBad: true) }
        return lines
    }

    private var cache: String? {
        guard let bytes = cacheBytes else { return "unknown" }
        return bytes > 0 ? "\(ByteCount(bytes)) per token, as \(cacheFormat.rawValue)" : nil
    }

    private var memoryText: String {
        let here = "in the \(ByteCount(memoryTotal)) of this machine"
        guard let fits else {
            return "\(ByteCount(facts.weightsBytes)) for the weights alone; the KV cache is unknown"
        }
        let verdict = "\(fits ? "fits" : "does not fit") \(here)"
        guard cacheBytes != nil else {
            return "\(ByteCount(facts.weightsBytes)) for the weights alone: \(verdict)"
        }
        let length = hasPositions ? " with a \(Humanize.grouped(positions))-token context" : ""
        return "\(ByteCount(memory)) to run\(length): \(verdict)"
    }

    private var model: String {
        let active = facts.activeParameters.map { "\(Humanize.count($0)) of them per token" }
        return [
            facts.architecture ?? facts.modelType ?? "?",
            facts.parameters > 0
                ? "\(Humanize.count(facts.parameters)) parameter\(facts.parameters == 1 ? "" : "s")" : nil, active,
            facts.dominantDataType,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private var shape: String {
        [
            facts.layers.map { Self.counted($0, "layer") }, facts.heads.map { Self.counted($0, "head") },
            facts.kvHeads.map { Self.counted($0, "KV head") },
            facts.vocabulary.map { "vocabulary \(Humanize.grouped($0))" },
            facts.contextLength.map { "context \(Humanize.grouped($0))" },
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(Humanize.grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    private var sortedParts: [(key: String, value: Int64)] {
        facts.parameterParts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }

    private var parts: String {
        sortedParts.map { "\($0.key.replacing("_", with: " ")) \(Humanize.count($0.value))" }.joined(
            separator: ", ")
    }

    /// Nothing where there is only one: the first line has it.
    private var types: String {
        guard facts.dataTypes.count > 1 else { return "" }
        return facts.dataTypes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\($0.key) \(Humanize.count($0.value))"
        }.joined(separator: ", ")
    }

    private var tokenizer: String? {
        guard facts.readsTexts else { return nil }
        return (facts.tokenizerKind ?? "none that hub reads") + (facts.hasChatTemplate ? ", chat template" : "")
    }

    private static func rounded(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return rest == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    var json: JSON {
        func int(_ value: Int?) -> JSON? { value.map { .int(Int64($0)) } }
        func counts(_ values: [(key: String, value: Int64)]) -> JSON {
            .object(JSONObject(values.map { ($0.key, .int($0.value)) }))
        }
        return .object([
            "file": facts.file.map { .string($0) },
            "architecture": (facts.architecture ?? facts.modelType).map { .string($0) },
            "model_type": facts.modelType.map { .string($0) },
            "formats": .array(facts.formats.map { .string($0) }),
            "parameters": .int(facts.parameters), "active_parameters": facts.activeParameters.map { .int($0) },
            "parameters_by_part": counts(sortedParts),
            "dtypes": counts(facts.dataTypes.sorted { $0.key < $1.key }),
            "quantization": facts.quantization.map { .string($0) },
            "bits_per_weight": facts.bitsPerWeight.map { .double($0) },
            "weights_bytes": .int(facts.weightsBytes),
            "context_length": int(facts.contextLength), "layers": int(facts.layers), "heads": int(facts.heads),
            "kv_heads": int(facts.kvHeads), "vocabulary": int(facts.vocabulary),
            "kv_bytes_per_token": cacheBytes.map { .int($0) },
            "memory_bytes": memoryBytes.map { .int($0) }, "memory_context": hasPositions ? int(positions) : nil,
            "memory_total_bytes": .int(memoryTotal), "fits": fits.map { .bool($0) },
            "tokenizer": facts.tokenizerKind.map { .string($0) },
            "chat_template": .bool(facts.hasChatTemplate), "license": facts.license.map { .string($0) },
            "supported": .bool(facts.isSupported), "obstacles": .array(facts.obstacles.map { .string($0.text) }),
        ])
    }
}
