import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension InfoCommand {
    /// What the headers of the set of weights that hub takes say, from the cache or by ranges from the Hub.
    ///
    /// - Throws: ``ErrorCode/offline`` where neither the cache nor the Hub can be asked.
    static func inspection(_ facts: ModelFacts, _ workspace: Workspace) async throws -> ModelInspection {
        guard let plan = facts.plan, facts.reference.repository.kind == .model else {
            throw AIError(
                .offline, "which files \(facts.reference.repository) has is not known, and the Hub cannot be asked",
                context: .init(repository: facts.reference.repository.description))
        }
        let variant = facts.chosenVariant(try MachineRunner(facts.registry?.entriesByRepository ?? [:])).flatMap {
            [.safetensors, .mlx, .gguf].contains($0.format) ? $0 : nil
        }
        var sources = try await workspace.puller().sources(plan, of: Set(variant?.files ?? []))
        sources.license = facts.record.license
        return ModelInspection(sources)
    }
}
