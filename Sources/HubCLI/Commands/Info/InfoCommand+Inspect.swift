import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension InfoCommand {
    /// What the headers of one set of weights say, from the cache or by ranges from the Hub.
    ///
    /// - Throws: ``ErrorCode/offline`` where neither the cache nor the Hub can be asked.
    static func inspection(_ facts: ModelFacts, _ workspace: Workspace) async throws -> ModelInspection {
        guard let plan = facts.plan, facts.reference.repository.kind == .model else {
            throw AIError(
                .offline, "which files \(facts.reference.repository) has is not known, and the Hub cannot be asked",
                context: .init(repository: facts.reference.repository.description))
        }
        let variant = inspected(facts.variants, memory: facts.memoryTotal)
        var sources = try await workspace.puller().sources(plan, of: Set(variant?.files ?? []))
        sources.license = facts.record.license
        return ModelInspection(sources)
    }

    /// The set that is looked at: the main one of the format that hub can do most with; of GGUF the largest that fits in
    /// memory, else the smallest.
    private static func inspected(_ variants: [ModelVariant], memory: Int64) -> ModelVariant? {
        let readable = variants.filter { [.safetensors, .mlx, .gguf].contains($0.format) }
        guard let format = readable.map(\.format).min() else { return nil }
        let candidates = readable.filter { $0.format == format }
        if format != .gguf, let main = candidates.first(where: \.isMain) { return main }
        return candidates.last { $0.sizeBytes <= memory } ?? candidates.first
    }
}
