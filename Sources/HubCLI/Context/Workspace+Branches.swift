import Catalog
import Fetcher
import HubCore

extension Workspace {
    /// The branch or tag under which the Hub or the cache knows a commit; nil if neither does. A pull that was cut off has
    /// written no ref yet, but the catalog knows what the Hub said.
    func branch(of commit: Commit, _ repository: Repository) throws(AIError) -> String? {
        let known = dispensable.use { catalog throws(AIError) in try catalog.revisions(of: repository) } ?? []
        let names = known.filter { $0.commit == commit }.map(\.name)
        if names.contains("main") { return "main" }
        if try layout.repository(repository).commit(ofRef: "main") == commit { return "main" }
        return names.first { Commit($0) == nil }
    }

    /// What to pull to get a cached revision's files: its branch if that is known.
    func reference(to commit: Commit, _ repository: Repository) throws(AIError) -> ModelReference {
        let branch = try branch(of: commit, repository)
        return ModelReference(repository, revision: branch == "main" ? nil : branch ?? commit.hash)
    }
}
