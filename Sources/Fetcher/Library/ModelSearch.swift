public import Catalog
import HubCore

/// Asks the Hub and the catalog and merges what they say.
package struct ModelSearch: Sendable {
    let workspace: Workspace
    /// The repository folders of the cache.
    let cached: Set<String>
    /// The entries of the curated list by their repositories' ids.
    let curated: [String: RegistryEntry]

    package init(workspace: Workspace, cached: Set<String>, curated: [String: RegistryEntry]) {
        self.workspace = workspace
        self.cached = cached
        self.curated = curated
    }

    /// The answer to a query. Where the Hub answers and the catalog fails, there is a warning.
    ///
    /// - Throws: for a cancellation, and where the catalog alone was to answer and cannot.
    package func answer(_ query: ModelQuery, asksHub: Bool) async throws -> SearchAnswer {
        var answer = SearchAnswer()
        var hub: HubFindings?
        if asksHub, query.ids?.isEmpty != true {
            do {
                let part = await hubsPart(of: query)
                hub = try await workspace.client().find(part)
                answer.unasked = max(0, (part.ids?.count ?? 0) - HubClient.mostIDs)
            } catch {
                let failure = AIError.wrapping(error)
                if failure.code == .cancelled { throw failure }
                answer.failure = failure
            }
        }
        let (records, seen) = (hub?.records ?? [], hub?.seen ?? [])
        var (known, unbounded): ([ModelRecord], [ModelRecord]) = ([], [])
        if !seen.isEmpty { await Blocking.run { [workspace] in workspace.remember(seen) } }
        if let catalog = workspace.catalog {
            do {
                known = try await Blocking.run {
                    try catalog.search(query).map(\.record) + described(query, catalog)
                }
                unbounded = try await Blocking.run { try Self.unbounded(query, catalog) }
                answer.catalog = catalog
            } catch {
                guard hub != nil || answer.failure != nil else { throw error }
                workspace.dispensable.giveUp(AIError.wrapping(error))
            }
        }
        let undecided = (seen + unbounded).filter { query.verdict(on: $0) == .unknown && query.containsWords($0) }
        answer.undecided = Set(undecided.map(\.repository.id)).count
        if query.ids != nil { known += try await strangers(query, answer.catalog) }
        answer.entries = merged(records, known, query)
        answer.isWhole = hub?.isWhole ?? true
        answer.checked = seen.count
        return answer
    }

    /// Models whose curated name or description has the words, which the index of models does not hold.
    private func described(_ query: ModelQuery, _ catalog: Catalog) throws(AIError) -> [ModelRecord] {
        guard !query.text.isEmpty, query.sort == .relevance else { return [] }
        var found: [ModelRecord] = []
        for (id, entry) in curated where query.ids?.contains(id) ?? true && query.isSaid(in: entry) {
            let repository = Repository(.model, entry.repository)
            // A curated model unknown to the catalog has nothing to show.
            guard let known = try catalog.model(repository) else { continue }
            let isThere = known.vanishedAt == nil || query.includesVanished
            if isThere, query.matches(known.record) { found.append(known.record) }
        }
        return found
    }

    /// The first models that meet everything but the bounds, for counting those that are skipped because a number is
    /// unknown.
    private static func unbounded(_ query: ModelQuery, _ catalog: Catalog) throws(AIError) -> [ModelRecord] {
        var open = query
        (open.minimumParameters, open.maximumParameters) = (nil, nil)
        (open.maximumSize, open.maximumWeightBytes) = (nil, nil)
        guard open != query else { return [] }
        open.limit = 1000
        return try catalog.search(open).map(\.record)
    }

    /// The query as the Hub is asked: chosen ids cost a request each, so only those that the catalog has not heard of
    /// for a day.
    private func hubsPart(of query: ModelQuery) async -> ModelQuery {
        guard let ids = query.ids, let catalog = workspace.catalog else { return query }
        var part = query
        let fresh = Timestamp.now - 86_400
        let endpoint = workspace.configuration.endpoint.address
        part.ids = await Blocking.run {
            // A catalog that fails here fails again where it is said.
            let age = try? catalog.mirrorAge(endpoint)
            return ids.filter { id in
                guard let id = try? RepositoryID(id) else { return false }
                let known = try? catalog.model(Repository(query.kind, id))
                return known.map { max($0.seenAt, age?.asOf($0) ?? 0) < fresh } ?? true
            }
        }
        return part
    }

    /// The chosen ids of which only the name is known, such as the user's own model in the cache.
    private func strangers(_ query: ModelQuery, _ catalog: Catalog?) async throws -> [ModelRecord] {
        try await Blocking.run {
            try (query.ids ?? []).compactMap { id in
                guard let id = try? RepositoryID(id) else { return nil }
                let record = ModelRecord(Repository(query.kind, id))
                guard query.matches(record), query.containsWords(record) else { return nil }
                return try catalog?.model(record.repository) == nil ? record : nil
            }
        }
    }

    /// Each model once, by the query's order. What the catalog has is the Hub's answer and what was known before.
    private func merged(_ hub: [ModelRecord], _ known: [ModelRecord], _ query: ModelQuery) -> [SearchAnswer.Entry] {
        let fuller = Dictionary(known.map { ($0.repository.id, $0) }) { first, _ in first }
        var taken: Set<RepositoryID> = []
        var entries: [SearchAnswer.Entry] = []
        func add(_ records: [ModelRecord], _ source: SearchAnswer.Source) {
            for record in records where taken.insert(record.repository.id).inserted {
                entries.append(
                    SearchAnswer.Entry(
                        record: fuller[record.repository.id] ?? record, source: source,
                        isCached: cached.contains(record.repository.folderName)))
            }
        }
        add(hub, .hub)
        add(known, .catalog)
        return Array(query.sorted(entries, by: \.record).prefix(query.limit))
    }
}

extension ModelQuery {
    /// Whether alias, name and description of a curated entry have all words, each as the beginning of a word.
    fileprivate func isSaid(in entry: RegistryEntry) -> Bool {
        func words(_ text: String) -> [Substring] {
            text.lowercased().split { !($0.isLetter || $0.isNumber) }
        }
        let said = words("\(entry.alias) \(entry.name) \(entry.description ?? "")")
        return kind == .model && words(text).allSatisfy { word in said.contains { $0.hasPrefix(word) } }
    }
}

extension ModelManager {
    /// The models that match a query, as the Hub and the catalog together know them: each once, with what is cached
    /// marked. Where the Hub does not answer, the catalog's part is given, with the Hub's error.
    ///
    /// - Parameter asksHub: false asks the catalog alone, as does an environment that forbids the network.
    /// - Throws: ``ErrorCode/catalogUnusable`` where the catalog alone was to answer and cannot; `CancellationError`.
    public func search(_ query: ModelQuery, asksHub: Bool = true) async throws -> SearchAnswer {
        let workspace = await workspace()
        let search = try await Blocking.run {
            ModelSearch(
                workspace: workspace, cached: try workspace.layout.heldFolders(),
                curated: try ModelRegistry(catalog: workspace.catalog).entriesByRepository)
        }
        return try await search.answer(query, asksHub: asksHub && !workspace.isOffline)
    }
}
