package import Catalog
import HubCore

/// The Hub's results for a query.
package struct HubFindings: Sendable {
    /// The matches in the query's order, at most its limit.
    package var records: [ModelRecord] = []
    /// All models of the answers, including those that do not match.
    package var seen: [ModelRecord] = []
    /// Whether every model that could rank among the records was checked.
    package var isWhole = true
}

extension HubClient {
    /// Pages in a row without a match after which a search gives up: the Hub has thousands of pages, and local filters may match
    /// nothing.
    package static let patience = 10
    /// Maximum number of ids to request one by one.
    package static let mostIDs = 100

    /// The models on the Hub that match a query, at most its limit; see ``find(_:)``.
    package func search(_ query: ModelQuery) async throws -> [ModelRecord] { try await find(query).records }

    /// Requests page after page until the limit is reached. Filters that the Hub lacks are applied here. After
    /// ``patience`` pages in a row without a match it returns what it has found, which may be nothing, with
    /// ``HubFindings/isWhole`` false.
    package func find(_ query: ModelQuery) async throws -> HubFindings {
        if let ids = query.ids { return try await findEach(ids, query) }
        let findings = try await walk(query, search: query.text, isGuess: false)
        let words = query.text.split(whereSeparator: \.isWhitespace)
        guard findings.seen.isEmpty, query.limit > 0, words.count > 1,
            let longest = words.max(by: { $0.utf8.count < $1.utf8.count })
        else { return findings }
        // A Hub that searches for the whole text never finds two words, because names have no spaces.
        log("nothing is called \"\(query.text.printable)\": asking for \"\(String(longest).printable)\" alone")
        return try await walk(query, search: String(longest), isGuess: true)
    }

    /// - Parameter isGuess: whether `search` is only part of the text, so that the words are matched here.
    private func walk(_ query: ModelQuery, search text: String, isGuess: Bool) async throws -> HubFindings {
        var findings = HubFindings()
        // The Hub does not sort by size: take the largest of a page of the most downloaded.
        let wanted = query.sort == .size ? max(query.limit, 1000) : query.limit
        var address: String? = query.limit > 0 ? listAddress(query, search: text, isGuess: isGuess) : nil
        var bounds = ListBounds("the answer of \(endpoint.origin) to a search")
        // Models that move between pages meanwhile occur twice.
        var known: Set<RepositoryID> = []
        var fruitless = 0
        while let page = address, findings.records.count < wanted, fruitless < Self.patience {
            try bounds.begin(page)
            let listed = try await listing(query.kind, at: page, needsNames: false)
            try bounds.add(listed.entries)
            let entries = listed.records.filter { known.insert($0.repository.id).inserted }
            findings.seen += entries
            let matching = entries.filter { query.matches($0) && (!isGuess || query.containsWords($0)) }
            findings.records += matching
            fruitless = matching.isEmpty ? fruitless + 1 : 0
            address = listed.entries == 0 ? nil : try nextPage(listed.next, after: page)
        }
        findings.isWhole = address == nil || (query.sort != .size && findings.records.count >= wanted)
        if query.sort == .size { findings.records = query.sorted(findings.records) { $0 } }
        findings.records = Array(findings.records.prefix(max(0, query.limit)))
        return findings
    }

    // MARK: Chosen ids

    /// The Hub cannot list given ids: they are requested one by one, a few at a time. Missing ones are left out.
    private func findEach(_ ids: [String], _ query: ModelQuery) async throws -> HubFindings {
        var met: Set<String> = []
        let ids = ids.filter { met.insert($0).inserted }
        let repositories = ids.prefix(Self.mostIDs).compactMap { id in
            (try? RepositoryID(id)).map { Repository(query.kind, $0) }
        }
        var findings = HubFindings()
        try await withThrowingTaskGroup(of: ModelRecord?.self) { group in
            var rest = repositories[...]
            func askNext() {
                guard let repository = rest.popFirst() else { return }
                group.addTask { try await record(of: repository) }
            }
            for _ in 0..<8 { askNext() }
            while let record = try await group.next() {
                if let record { findings.seen.append(record) }
                askNext()
            }
        }
        let matching = findings.seen.filter { query.matches($0) && query.containsWords($0) }
        findings.records = Array(query.sorted(matching) { $0 }.prefix(max(0, query.limit)))
        findings.isWhole = ids.count <= Self.mostIDs
        return findings
    }

    private func record(of repository: Repository) async throws -> ModelRecord? {
        do { return try await info(repository).record } catch let error as AIError {
            guard [.repositoryNotFound, .unauthorized, .gated, .disabled].contains(error.code) else { throw error }
            log("\(repository): \(error.message)")
            return nil
        }
    }

    // MARK: The address

    private func listAddress(_ query: ModelQuery, search text: String, isGuess: Bool) -> String {
        var items: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value, !value.isEmpty { items.append((name, value)) } }
        add("search", text)
        add("author", query.author)
        add("pipeline_tag", query.task ?? query.capability.flatMap(Self.task))
        for filter in [query.library, query.license.map { "license:" + $0 }, query.format].compactMap({ $0 })
            + query.tags
        {
            add("filter", filter)
        }
        add("gated", query.gated.map { $0 ? "true" : "false" })
        add("num_parameters", Self.parameterRange(query))
        add("sort", Self.sortKey(query.sort))
        let page = Self.page(query, isGuess: isGuess)
        add("limit", String(page))
        // The plain list lacks date, author and gating.
        for key in Self.expanded(query.kind) { items.append(("expand", key)) }
        if query.kind == .model, page <= Self.configuredPage { items.append(("expand", "config")) }
        return "\(endpoint)/api/\(query.kind.plural)" + Self.query(items)
    }

    /// The largest page whose models come with the settings of their `config.json`, which name the class. They hold chat
    /// templates too, so that large pages would have several times the bytes.
    private static let configuredPage = 100

    private static func page(_ query: ModelQuery, isGuess: Bool) -> Int {
        // What runs is decided by class.
        if query.runner != nil { return configuredPage }
        return min(max(query.limit, leastPage(query, isGuess: isGuess)), 1000)
    }

    /// If much of an answer is filtered out here, large pages save requests.
    private static func leastPage(_ query: ModelQuery, isGuess: Bool) -> Int {
        let asksForTask = query.task == nil && query.capability.flatMap(task) != nil
        let isSifted =
            isGuess || query.sort == .size || query.maximumSize != nil || query.maximumWeightBytes != nil
            || (query.capability != nil && !asksForTask)
        if isSifted { return 1000 }
        // Not every Hub knows this filter.
        return query.minimumParameters == nil && query.maximumParameters == nil ? 1 : 100
    }

    /// The task of a capability with only one.
    private static func task(_ capability: ModelCapability) -> String? {
        capability.tags.isEmpty && capability.tasks.count == 1 ? capability.tasks[0] : nil
    }

    /// `min:6B,max:128B`, as the Hub's own client writes it; rounded outwards, because the answer is filtered again here.
    private static func parameterRange(_ query: ModelQuery) -> String {
        func text(_ count: Int64, up: Bool) -> String {
            for (unit, name) in [(Int64(1_000_000_000), "B"), (1_000_000, "M")] where count % unit == 0 {
                return "\(count / unit)\(name)"
            }
            return "\(count / 1000 + (up && count % 1000 != 0 ? 1 : 0))K"
        }
        let least = query.minimumParameters.flatMap { $0 > 0 ? "min:" + text($0, up: false) : nil }
        let most = query.maximumParameters.flatMap { $0 >= 0 ? "max:" + text($0, up: true) : nil }
        return [least, most].compactMap { $0 }.joined(separator: ",")
    }

    static func sortKey(_ sort: ModelQuery.Sort) -> String {
        switch sort {
        // The Hub does not sort by size.
        case .relevance, .downloads, .size: "downloads"
        case .likes: "likes"
        case .trending: "trendingScore"
        case .updated: "lastModified"
        case .created: "createdAt"
        }
    }

    static func expanded(_ kind: RepositoryKind) -> [String] {
        let common = [
            "author", "createdAt", "disabled", "gated", "lastModified", "likes", "private", "tags", "trendingScore",
        ]
        return switch kind {
        case .model: common + ["downloads", "library_name", "pipeline_tag", "safetensors", "gguf", "usedStorage"]
        case .dataset: common + ["downloads", "usedStorage"]
        case .space, .kernel: common
        }
    }
}
