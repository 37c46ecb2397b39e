import Catalog
import HubCore
import InferenceKit
import ModelFormats

/// Whether `hub try` runs a model, memory aside, by what is known of it without its files.
struct RunVerdict: Sendable, Hashable {
    /// What stands against it; nil if nothing does.
    var obstacle: String?
    var isPossible: Bool { obstacle == nil }

    init(obstacle: String?) { self.obstacle = obstacle }

    /// `yes`, or `no: qwen2 is not supported yet`.
    var sentence: String {
        guard let obstacle else { return "yes" }
        let subject = obstacle.hasPrefix("architecture ") ? obstacle.dropFirst(13) : obstacle[...]
        return "no: \(subject) \(subject.contains("weights") ? "are" : "is") not supported yet"
    }

    /// By what the curated list says; nil if that is not enough.
    init?(_ entry: RegistryEntry) {
        guard let architecture = entry.architecture else { return nil }
        if let format = entry.format, format != .safetensors {
            obstacle = Self.weights(format == .gguf ? .gguf : .mlx)
        } else if !RunnableModels.architectures.contains(architecture) {
            obstacle = "architecture \(architecture)"
        } else if entry.format == nil {
            return nil
        }
    }

    /// By the Hub's tags, among which are formats, quantisations and, for transformers, `model_type`; nil if they are
    /// not enough.
    init?(_ record: ModelRecord) {
        guard record.repository.kind == .model, record.tags != nil else { return nil }
        if let found = Self.quantizations.first(where: record.hasTag) {
            obstacle = "\(found) weights"
        } else if record.isOffered(in: "mlx"), record.isPacked {
            obstacle = Self.weights(.mlx)
        } else if !record.isOffered(in: "safetensors") {
            guard record.isOffered(in: "gguf") else { return nil }
            obstacle = Self.weights(.gguf)
        } else {
            guard record.library == "transformers" else { return nil }
            guard RunnableModels.architectures.contains(where: record.hasTag) else {
                obstacle = "its architecture"
                return
            }
            guard record.task == nil || record.task == "text-generation" else { return nil }
        }
    }

    /// What a quantised set of safetensors is tagged with.
    static let quantizations = [
        "4-bit", "8-bit", "gptq", "awq", "bitsandbytes", "fp8", "compressed-tensors", "mxfp4",
    ]

    private static func weights(_ format: WeightFormat) -> String { "\(format.rawValue) weights" }

    var json: JSON { .object(["possible": .bool(isPossible), "why": obstacle.map { .string($0) }]) }
}
