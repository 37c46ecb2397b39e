import Catalog
package import HubCore

/// The files of commits: from the catalog, the cache, or the Hub. Why a Hub does not answer is found out once.
package final class TreeSource {
    private let workspace: Workspace
    private var puller: Puller?
    private var fault: AIError?

    package init(_ workspace: Workspace) { self.workspace = workspace }

    /// nil with the reason if unknown.
    package func tree(of repository: Repository, at commit: Commit) async throws -> (RepositoryTree?, AIError?) {
        do {
            if let known = try await known(repository, commit) { return (known, nil) }
        } catch {
            let fault = AIError.wrapping(error)
            guard fault.code != .cancelled else { throw fault }
            return (nil, fault)
        }
        // The Hub's API has no trees of kernels.
        if repository.kind == .kernel { return (nil, nil) }
        if let fault, fault.code.facts.exitStatus == 5, fault.code != .offline { return (nil, fault) }
        do {
            if puller == nil { puller = try await workspace.puller() }
            return (try await puller?.tree(of: repository, at: commit), nil)
        } catch {
            let fault = AIError.wrapping(error)
            guard fault.code != .cancelled else { throw fault }
            self.fault = fault
            return (nil, fault)
        }
    }

    private func known(_ repository: Repository, _ commit: Commit) async throws -> RepositoryTree? {
        try await Blocking.run { [workspace] in
            let known = workspace.dispensable.use { catalog throws(AIError) in
                try catalog.tree(of: repository, at: commit)
            }
            return try (known ?? nil) ?? workspace.layout.repository(repository).readTree(commit)
        }
    }
}
