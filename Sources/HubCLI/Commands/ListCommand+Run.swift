import Fetcher
import HubCore

extension ListCommand {
    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let selectors = try arguments.operands.map { try CacheSelector($0, context) }
        let workspace = try await context.workspace()
        let (cache, xet) = try await workspace.overview()
        let free = try await Offload.run { try FileSystem.diskSpace(cache.layout.root).available }
        let shown = sorted(try await chosen(from: cache, selectors, workspace), by: arguments[sort] ?? .used)
        var failures = Failures()
        for (text, selector) in zip(arguments.operands, selectors)
        where !cache.repositories.contains(where: { selector.names($0) }) {
            try await failures.attempt(context.output) {
                throw AIError(
                    .notCached, "nothing in \(cache.layout.root) matches \(text.printable)",
                    advice: "hub ls lists what is there")
            }
        }
        if context.isVerbose { for remark in cache.remarks { context.output.debug(remark) } }
        let pins = Protection(pins: await workspace.pins())
        let view = ListView(context: context, cache: cache, xet: xet, pins: pins, free: free)
        context.output.render(json: view.json(shown), quiet: shown.map(\.repository.description)) {
            if arguments[revisions] { view.revisionTable(shown) } else { view.table(shown) }
            if arguments[partials] { view.partialTable(shown) }
            if !shown.isEmpty || selectors.isEmpty { view.summary(shown, isFiltered: !selectors.isEmpty) }
        }
        try failures.finish()
    }

    /// The repositories that are asked for, of those of which revisions are asked for these alone.
    private static func chosen(
        from cache: CacheOverview, _ selectors: [CacheSelector], _ workspace: Workspace
    ) async throws -> [RepositoryOverview] {
        guard !selectors.isEmpty else { return cache.repositories }
        var chosen: [RepositoryOverview] = []
        for repository in cache.repositories {
            let matching = selectors.filter { $0.matches(repository.repository) }
            guard !matching.isEmpty else { continue }
            var narrowed = repository
            if matching.allSatisfy(\.namesRevision) {
                narrowed.revisions = repository.revisions.filter { revision in
                    matching.contains { $0.matches(revision, of: repository) }
                }
                if narrowed.revisions.isEmpty { continue }
            }
            if narrowed.revisions.count < repository.revisions.count {
                try await narrow(&narrowed, workspace)
            }
            chosen.append(narrowed)
        }
        return chosen
    }

    /// Gives a repository the sums over those revisions of it that are shown.
    private static func narrow(_ repository: inout RepositoryOverview, _ workspace: Workspace) async throws {
        let state = try await workspace.state()
        guard let whole = state.repositories.first(where: { $0.folder == repository.folder }) else { return }
        let commits = Set(repository.revisions.map(\.commit))
        let revisions = whole.revisions.filter { commits.contains($0.commit) }
        repository.freeable = FreeableSizes(state).ofRevisions(revisions, whole)
        var part = whole
        part.revisions = revisions
        let files = part.physicalFiles
        (repository.files, repository.size) = (files.count, files.values.reduce(0) { $0 + $1.size })
    }

    private static func sorted(_ repositories: [RepositoryOverview], by sort: Sort) -> [RepositoryOverview] {
        func latest(_ repository: RepositoryOverview, _ time: (RepositoryOverview.Revision) -> Double) -> Double {
            repository.revisions.lazy.map(time).max() ?? 0
        }
        func descending(_ key: (RepositoryOverview) -> Double) -> [RepositoryOverview] {
            repositories.indices.map { ($0, key(repositories[$0])) }.sorted { $0.1 > $1.1 }.map {
                repositories[$0.0]
            }
        }
        return switch sort {
        case .name: repositories.sorted { $0.repository.description < $1.repository.description }
        case .size: descending { Double($0.size) }
        // What nobody saw used was used last when it was made, as far as anybody knows.
        case .used: descending { latest($0) { $0.lastUsedAt ?? $0.downloadedAt } }
        case .downloaded: descending { latest($0, \.downloadedAt) }
        }
    }
}
