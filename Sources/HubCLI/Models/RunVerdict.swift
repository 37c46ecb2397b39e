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
        if !RunnableModels.runs(architecture, asGGUF: entry.format == .gguf) {
            obstacle = "architecture \(architecture)"
        } else if entry.format == nil {
            return nil
        }
    }

    /// By the Hub's tags, among which are formats, quantisations and, for transformers, `model_type`; nil if they are
    /// not enough.
    init?(_ record: ModelRecord) {
        guard record.repository.kind == .model, record.tags != nil else { return nil }
        let isMLX = record.isOffered(in: "mlx")
        if !isMLX, let found = Self.quantizations.first(where: record.hasTag) {
            obstacle = "\(found) weights"
        } else {
            // Repositories of GGUF files seldom name an architecture.
            guard isMLX || record.isOffered(in: "safetensors"), isMLX || record.library == "transformers" else {
                return nil
            }
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

    var json: JSON { .object(["possible": .bool(isPossible), "why": obstacle.map { .string($0) }]) }
}
