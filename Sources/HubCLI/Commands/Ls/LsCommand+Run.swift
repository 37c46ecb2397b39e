import Catalog
import Fetcher
import HubCore
import ModelFormats

extension LsCommand {
    /// What is listed, and how.
    struct Request {
        /// References and globs; everything if there are none.
        var models: [String]
        var sort: Sort
        /// Bytes.
        var largerThan: Int64?
        /// Seconds.
        var unusedFor: Double?
        var limit: Int?
        var revisions: Bool
        var partials: Bool

        init(_ arguments: ParsedArguments) {
            models = arguments.operands
            sort = arguments[LsCommand.sort] ?? .used
            largerThan = arguments[LsCommand.largerThan]?.bytes
            unusedFor = arguments[SharedFlags.unusedFor].map { Double($0.seconds) }
            limit = arguments[LsCommand.limit]
            revisions = arguments[LsCommand.revisions]
            partials = arguments[LsCommand.partials]
        }

        /// Whether not everything is listed.
        var isFiltered: Bool { !models.isEmpty || largerThan != nil || unusedFor != nil || limit != nil }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let workspace = try await context.workspace()
        let (cache, xet) = try await workspace.overview()
        let further = try await workspace.furtherOverviews()
        var failures = Failures()
        var selectors: [CacheSelector] = []
        for text in request.models {
            let selector = try CacheSelector(text, context)
            try await failures.attempt(context.output) {
                guard try await isHeld(selector, in: [cache] + further) else {
                    throw AIError(
                        .notCached, "nothing in \(cache.layout.root) matches \(text.printable)",
                        advice: "hub ls lists what is cached")
                }
                selectors.append(selector)
            }
        }
        let free = try await Blocking.run { try FileSystem.diskSpace(cache.layout.root).available }
        let isAll = request.models.isEmpty
        let found = try await (isAll ? cache.repositories : chosen(from: cache, selectors, workspace)).filter {
            passes($0, request, now: context.now)
        }
        let shown = Array(sorted(found, by: request.sort).prefix(request.limit ?? .max))
        if context.isVerbose { for remark in cache.remarks { context.output.debug(remark) } }
        let pins = Protection(pins: await workspace.pins())
        let catalog = workspace.dispensable
        let tried = await Blocking.run {
            catalog.use { catalog throws(AIError) in
                (here: try catalog.tried(), remotely: try catalog.triedRemotely())
            }
        }
        let view = LsView(
            context: context, cache: cache, xet: xet, pins: pins, damaged: try await workspace.damagedRevisions(),
            unfinished: try await unfinished(shown, workspace),
            partialFiles: request.partials ? await files(ofPartials: shown, catalog) : [:],
            tried: tried?.here ?? [:],
            triedRemotely: tried?.remotely ?? [:], free: free,
            reclaimable: try await reclaimable(cache, pins, workspace))
        let others = further.map { other in
            (
                other.layout.root,
                other.repositories.filter { repository in
                    (isAll || selectors.contains { $0.names(repository) })
                        && passes(repository, request, now: context.now)
                }
            )
        }
        let names = (shown + others.flatMap(\.1)).map(\.repository.description)
        var seen: Set<String> = []
        context.output.render(
            json: view.json(shown, others.flatMap(\.1)), quiet: names.filter { seen.insert($0).inserted }
        ) {
            if request.revisions { view.revisionTable(shown) } else { view.table(shown) }
            for (root, repositories) in others { view.furtherTable(repositories, in: root) }
            if request.partials { view.partialTable(shown) }
            if !shown.isEmpty || isAll { view.summary(shown, isFiltered: request.isFiltered) }
        }
        try failures.finish()
    }

    /// Whether something that is meant is in a cache: a file of it, where files are named.
    private static func isHeld(_ selector: CacheSelector, in caches: [CacheOverview]) async throws -> Bool {
        for cache in caches {
            for repository in cache.repositories where selector.names(repository) {
                guard selector.files != nil else { return true }
                let folder = cache.layout.repository(repository.repository)
                let revisions = repository.revisions.filter { selector.matches($0, of: repository) }
                let isThere = try await Blocking.run {
                    try revisions.contains { revision in
                        let paths = try Warming(folder: folder.snapshot(revision.commit)).files.map(\.name)
                        let named = try selector.files(among: paths, of: repository.repository)
                        return paths.contains { named?.matches($0) ?? false }
                    }
                }
                if isThere { return true }
            }
        }
        return false
    }

    private static func passes(_ repository: RepositoryOverview, _ request: Request, now: Double) -> Bool {
        if let least = request.largerThan, repository.size <= least { return false }
        guard let age = request.unusedFor else { return true }
        return now - latest(repository) { $0.lastUsedAt ?? $0.downloadedAt } >= age
    }

    /// The branches of pulls that were cut off before they wrote a ref, where the catalog knows them.
    private static func unfinished(_ repositories: [RepositoryOverview], _ workspace: Workspace) async throws
        -> [String: [Commit: String]]
    {
        @Sendable func isUnfinished(_ revision: RepositoryOverview.Revision) -> Bool {
            revision.refs.isEmpty && revision.isComplete == false
        }
        let concerned = repositories.filter { $0.revisions.contains(where: isUnfinished) }
        guard !concerned.isEmpty else { return [:] }
        return try await Blocking.run {
            var out: [String: [Commit: String]] = [:]
            for repository in concerned {
                for revision in repository.revisions where isUnfinished(revision) {
                    out[repository.folder.name, default: [:]][revision.commit] = try workspace.branch(
                        of: revision.commit, repository.repository)
                }
            }
            return out
        }
    }

    /// The files that partials become, by digest, as far as the catalog knows them.
    private static func files(ofPartials repositories: [RepositoryOverview], _ catalog: DispensableCatalog) async
        -> [Repository: [String: String]]
    {
        await Blocking.run {
            var files: [Repository: [String: String]] = [:]
            for repository in repositories {
                for digest in Set(repository.partials.map { self.digest(ofPartial: $0.name) }) {
                    let places =
                        catalog.use { catalog throws(AIError) in try catalog.places(ofSHA256: digest) } ?? []
                    let place = places.first { $0.repository == repository.repository }
                    files[repository.repository, default: [:]][digest] = place?.path
                }
            }
            return files
        }
    }

    /// What the name of a partial begins with.
    static func digest(ofPartial name: String) -> String {
        String(name.dropFirst(name.hasPrefix(".") ? 1 : 0).prefix { $0 != "." })
    }

    /// Bytes that deleting everything would free but what is pinned.
    private static func reclaimable(_ cache: CacheOverview, _ pins: Protection, _ workspace: Workspace) async throws
        -> Int64
    {
        let all = cache.totalSize + cache.partialSize + cache.otherSize
        let isHeld = { (repository: RepositoryOverview) in
            !repository.isDeletable
                || repository.revisions.contains { pins.pin(repository.folder, $0.commit) != nil }
        }
        guard cache.sharesFiles || cache.repositories.contains(where: isHeld) else { return all }
        let state = try await workspace.state()
        return try await Blocking.run { try state.reclaimable(besides: pins) }
    }

    private static func latest(
        _ repository: RepositoryOverview, _ time: (RepositoryOverview.Revision) -> Double
    ) -> Double { repository.revisions.lazy.map(time).max() ?? 0 }

    /// The repositories that are asked for, of those of which revisions are asked for these alone.
    private static func chosen(
        from cache: CacheOverview, _ selectors: [CacheSelector], _ workspace: Workspace
    ) async throws -> [RepositoryOverview] {
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
        var ledger = DeletionLedger(state)
        repository.freeable = ledger.freedBytes(revisions, of: whole)
        var part = whole
        part.revisions = revisions
        let files = part.physicalFiles
        (repository.files, repository.size) = (files.count, files.values.reduce(0) { $0 + $1.size })
    }

    private static func sorted(_ repositories: [RepositoryOverview], by sort: Sort) -> [RepositoryOverview] {
        func descending(_ key: (RepositoryOverview) -> Double) -> [RepositoryOverview] {
            repositories.indices.map { ($0, key(repositories[$0])) }.sorted { $0.1 > $1.1 }.map {
                repositories[$0.0]
            }
        }
        return switch sort {
        case .name: repositories.sorted { $0.repository.description < $1.repository.description }
        case .size: descending { Double($0.size) }
        // Where no use is known the time of the download counts.
        case .used: descending { latest($0) { $0.lastUsedAt ?? $0.downloadedAt } }
        case .downloaded: descending { latest($0, \.downloadedAt) }
        }
    }
}
