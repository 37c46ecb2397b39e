package import Catalog
import HubCore

/// What the Hub answered to a query.
package struct HubFindings: Sendable {
    /// What matches, in the query's order, at most as many as its limit.
    package var records: [ModelRecord] = []
    /// All models of the answers, also those that do not match.
    package var seen: [ModelRecord] = []
    /// Whether every model was checked that could have come before or among the records.
    package var isWhole = true
}

extension HubClient {
    /// Pages without a match after which a search gives up: the Hub has thousands of pages, and filters that it does not
    /// know might let nothing through.
    package static let patience = 10
    /// As many of chosen ids are asked for, each by itself.
    package static let mostIDs = 100

    /// The models that a query finds on the Hub, at most as many as its limit; see ``find(_:)``.
    package func search(_ query: ModelQuery) async throws -> [ModelRecord] { try await find(query).records }

    /// Asks the Hub page after page until the limit is full. What the Hub cannot filter by is filtered here.
    package func find(_ query: ModelQuery) async throws -> HubFindings {
        if let ids = query.ids { return try await findEach(ids, query) }
        let findings = try await walk(query, search: query.text, isGuess: false)
        let words = query.text.split(whereSeparator: \.isWhitespace)
        guard findings.seen.isEmpty, query.limit > 0, words.count > 1,
            let longest = words.max(by: { $0.utf8.count < $1.utf8.count })
        else { return findings }
        // A Hub that searches for the text as a whole never finds two words: no name has a space.
        log("nothing is called \"\(query.text.printable)\": asking for \"\(String(longest).printable)\" alone")
        return try await walk(query, search: String(longest), isGuess: true)
    }

    /// - Parameter isGuess: whether `search` is less than the text, so that the words are to be looked for here.
    private func walk(_ query: ModelQuery, search text: String, isGuess: Bool) async throws -> HubFindings {
        var findings = HubFindings()
        // The Hub does not sort by size: of as many of the most downloaded as a page holds, the largest.
        let wanted = query.sort == .size ? max(query.limit, 1000) : query.limit
        var address: String? = query.limit > 0 ? listAddress(query, search: text, isGuess: isGuess) : nil
        var pages: Set<String> = []
        // A model that moves to the next page meanwhile comes twice.
        var known: Set<RepositoryID> = []
        var fruitless = 0
        while let page = address, findings.records.count < wanted, fruitless < Self.patience {
            guard pages.insert(page).inserted else {
                throw AIError(
                    .protocolViolation,
                    "the answer of \(endpoint.origin) to a search links back to a page already read")
            }
            let (listed, next) = try await listed(page, query.kind)
            let entries = listed.filter { known.insert($0.repository.id).inserted }
            findings.seen += entries
            let matching = entries.filter { query.matches($0) && (!isGuess || query.containsWords($0)) }
            findings.records += matching
            fruitless += matching.isEmpty ? 1 : 0
            address = next
        }
        findings.isWhole = address == nil || (query.sort != .size && findings.records.count >= wanted)
        if query.sort == .size { findings.records = query.sorted(findings.records) { $0 } }
        findings.records = Array(findings.records.prefix(max(0, query.limit)))
        return findings
    }

    /// One page of a list, and the address of the next.
    private func listed(_ page: String, _ kind: RepositoryKind) async throws -> ([ModelRecord], next: String?) {
        let (json, fields) = try await json(page, fault: fault(nil))
        guard let entries = json.array else {
            throw AIError(
                .protocolViolation, "\(endpoint.origin) answers a search with something that is not a list")
        }
        // An entry with an invalid name is skipped: one odd row must not hide the others.
        let records = entries.compactMap { entry in
            let record = ModelRecord(json: entry, kind: kind)
            if record == nil {
                log("skipped an entry whose name is \"\((entry["id"]?.string ?? "").printable)\"")
            }
            return record
        }
        return (records, entries.isEmpty ? nil : try nextPage(fields, after: page))
    }

    // MARK: Chosen ids

    /// The Hub has no list of chosen models: each is asked for by itself, a few at a time. One that it does not show is
    /// left out.
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
            + query.tags + (query.anyTags.count == 1 ? query.anyTags : [])
        {
            add("filter", filter)
        }
        add("gated", query.gated.map { $0 ? "true" : "false" })
        add("num_parameters", Self.parameterRange(query))
        add("sort", Self.sortKey(query.sort))
        add("limit", String(min(max(query.limit, Self.leastPage(query, isGuess: isGuess)), 1000)))
        // The plain list lacks when a model changed, who made it and whether it is gated.
        for key in Self.expanded(query.kind) { items.append(("expand", key)) }
        return "\(endpoint)/api/\(query.kind.plural)" + Self.query(items)
    }

    /// Where much of an answer is filtered out here, large pages save requests.
    private static func leastPage(_ query: ModelQuery, isGuess: Bool) -> Int {
        let asksForTask = query.task == nil && query.capability.flatMap(task) != nil
        let isSifted =
            isGuess || query.sort == .size || query.maximumSize != nil || query.maximumWeightBytes != nil
            || (query.capability != nil && !asksForTask) || query.anyTags.count > 1
        if isSifted { return 1000 }
        // Not every Hub knows this filter.
        return query.minimumParameters == nil && query.maximumParameters == nil ? 1 : 100
    }

    /// The one task that is all of a capability.
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
