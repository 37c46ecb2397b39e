import Catalog
import Fetcher
import HubAPI
import HubCore
import InferenceKit

/// What `hub chat` alone offers: the cached models that talk, and good small ones to begin with.
enum ChatChoice {
    private static let mostCached = 8
    private static let mostToBegin = 2

    static func missingModel(_ context: Context) async throws -> AIError {
        let workspace = try await context.workspace()
        let cached = try await cached(workspace, context)
        let beginning = try await beginnings(workspace, context)
        var lines: [String] = []
        if !cached.isEmpty { lines += ["models here that talk, the last used first:"] + cached.map(command) }
        if !beginning.isEmpty {
            lines += ["good small ones for this machine:"] + beginning.map(command)
        }
        lines.append("a MODEL is org/name, org/name:Q4_K_M, an alias, a folder or a GGUF file")
        return AIError(.invalidInput, "missing MODEL", advice: lines.joined(separator: "\n"))
    }

    private static func command(_ model: String) -> String { "  hub chat \(ShellQuoting.word(model))" }

    /// The models of the cache that generate texts and run here, the last used first.
    private static func cached(_ workspace: Workspace, _ context: Context) async throws -> [String] {
        let models = try await Shelf(workspace, allowed: nil) { try context.reference($0) }.talking()
        let repositories = try await workspace.state().repositories
        var used: [Repository: Double] = [:]
        for one in repositories { used[one.repository] = one.revisions.compactMap(\.lastUsedAt).max() }
        return models.enumerated().sorted { a, b in
            let times = (used[a.element.repository] ?? 0, used[b.element.repository] ?? 0)
            return times.0 == times.1 ? a.offset < b.offset : times.0 > times.1
        }.prefix(mostCached).map(\.element.name)
    }

    /// The smallest recommended ones of the registry that run here and are not cached.
    private static func beginnings(_ workspace: Workspace, _ context: Context) async throws -> [String] {
        let held = try await Blocking.run { try workspace.heldFolders() }
        let registry = try await context.registry(workspace)
        return registry.entries.filter { entry in
            entry.isRecommended(memory: registry.memory) && entry.capabilities.contains(.textGeneration)
                && RunnableModels.supported.judge(entry.facts)?.isPossible == true
                && !held.contains(Repository(.model, entry.repository).folderName)
        }.sorted { ($0.parameters ?? .max) < ($1.parameters ?? .max) }.prefix(mostToBegin).map(\.alias)
    }
}
