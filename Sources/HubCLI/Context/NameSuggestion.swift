import Catalog
import Fetcher
import HubCore

/// Adds "did you mean" to an error about an unknown model: the nearest alias, or name in the cache or the catalog.
///
/// It costs a look at both, so it runs only once something has failed.
struct NameSuggestion: Sendable {
    let context: Context
    /// The words that were typed for models.
    let typed: [String]

    /// The error, with the nearest name before its advice.
    @Sendable func advised(_ error: AIError) async -> AIError {
        guard [.repositoryNotFound, .notCached, .offline].contains(error.code), let meant = repository(error),
            let workspace = try? await context.workspace(tellsFault: false)
        else { return error }
        // A command that only uses the cache must not suggest models that are not cached.
        let onlyCached = error.code != .repositoryNotFound
        let near = await Blocking.run {
            Self.nearest(to: meant, in: workspace.layout, workspace.catalog, onlyCached: onlyCached)
        }
        guard let near else { return error }
        var advised = error
        // Beside another name, advice to download the one that was typed would be a second answer.
        let isAbsent = error.code == .notCached && error.context.repository != nil
        let rest = isAbsent ? nil : error.recoverySuggestion
        advised.specificAdvice = near + (rest.map { "\n\($0)" } ?? "")
        return advised
    }

    /// Which of the models that were typed the error is about.
    private func repository(_ error: AIError) -> Repository? {
        let repositories = typed.compactMap { try? context.reference($0).repository }
        if let name = error.context.repository { return repositories.first { $0.description == name } }
        return repositories.first { error.message.contains($0.description) }
    }

    /// A sentence about the nearest name.
    private static func nearest(
        to repository: Repository, in layout: CacheLayout, _ catalog: Catalog?, onlyCached: Bool
    ) -> String? {
        let folders = ((try? FileSystem.entries(layout.root)) ?? nil) ?? []
        let cached = folders.compactMap { Repository(folderName: $0) }.filter { $0.kind == repository.kind }
        // It is here, so something else is wrong.
        guard !cached.contains(repository) else { return nil }
        let name = repository.id.name
        if repository.kind == .model, repository.id.owner == nil {
            let entries = ((try? ModelRegistry(catalog: catalog)) ?? nil)?.entries ?? []
            let usable = entries.filter { !onlyCached || cached.contains(Repository(.model, $0.repository)) }
            if let alias = NearestName.of(name, among: usable.map(\.alias)) { return "did you mean \(alias)?" }
        }
        var names = cached.map(\.id.name)
        if let catalog, !onlyCached {
            var texts = [name, Path.name(name)]
            texts += (try? catalog.suggestions(for: name, kind: repository.kind, limit: 4)) ?? []
            for text in texts {
                var query = ModelQuery()
                (query.text, query.kind, query.limit) = (text, repository.kind, 20)
                names += ((try? catalog.search(query)) ?? []).map(\.record.repository.id.name)
            }
        }
        guard let near = nearest(to: name, among: names.filter { $0 != name }), let id = try? RepositoryID(near)
        else { return nil }
        // A stranger's copy under a known name is how people get what they did not ask for.
        let isOthers = repository.id.owner.map { $0.lowercased() != id.owner?.lowercased() } ?? false
        let meant = Repository(repository.kind, id)
        return isOthers ? "another author's: \(meant)" : "did you mean \(meant)?"
    }

    /// The nearest name of the same owner, else the same name of another owner, the nearest owner first.
    private static func nearest(to name: String, among names: [String]) -> String? {
        let (owner, own) = (Path.parent(name), Path.name(name))
        let siblings = names.filter { Path.parent($0).lowercased() == owner.lowercased() }
        if let near = NearestName.of(own, among: siblings.map(Path.name)) {
            return siblings.first { Path.name($0) == near }
        }
        let namesakes = names.filter { Path.name($0).lowercased() == own.lowercased() }
        let near = NearestName.of(owner, among: namesakes.map(Path.parent))
        return namesakes.first { Path.parent($0) == near } ?? namesakes.first
    }
}
