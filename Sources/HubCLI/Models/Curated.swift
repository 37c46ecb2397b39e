import Catalog
import Fetcher
import HubCore

extension Context {
    /// The curated list with what the workspace's catalog knows. A catalog that cannot be opened was told of when the
    /// workspace was made; one that cannot be read is reported here. Either way the shipped list remains.
    func registry(_ workspace: Workspace) async throws -> ModelRegistry {
        let output = output
        return try await Blocking.run {
            do throws(AIError) { return try ModelRegistry(catalog: workspace.catalog) } catch {
                guard error.code == .catalogUnusable else { throw error }
                output.warning(
                    "only the shipped registry is shown: \(error.message)", advice: error.recoverySuggestion)
                return try ModelRegistry(catalog: nil)
            }
        }
    }
}

extension RegistryEntry {
    /// The `"curated"` of a model in a list: `{"alias","name","description","context_length","capabilities"}`.
    var curatedJSON: JSON {
        .object([
            "alias": .string(alias), "name": .string(name), "description": description.map { .string($0) },
            "context_length": contextLength.map { .int(Int64($0)) },
            "capabilities": .array(orderedCapabilities.map { .string($0.rawValue) }),
        ])
    }
}
