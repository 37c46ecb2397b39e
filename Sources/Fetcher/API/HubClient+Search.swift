package import Catalog
import HubCore

extension HubClient {
    /// The models that a query finds on the Hub, in the Hub's order, page after page until the limit.
    package func search(_ query: ModelQuery) async throws -> [ModelRecord] {
        var items: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value, !value.isEmpty { items.append((name, value)) } }
        add("search", query.text)
        add("author", query.author)
        add("pipeline_tag", query.task)
        for filter in [query.library, query.license.map { "license:" + $0 }].compactMap({ $0 }) + query.tags {
            add("filter", filter)
        }
        add("gated", query.gated.map { $0 ? "true" : "false" })
        add("sort", Self.sortKey(query.sort))
        add("limit", String(min(max(query.limit, 1), 1000)))
        // The plain list lacks when a model changed, who made it and whether it is gated.
        for key in Self.expanded(query.kind) { items.append(("expand", key)) }
        var address: String? = "\(endpoint)/api/\(query.kind.plural)" + Self.query(items)
        var out: [ModelRecord] = []
        var pages: Set<String> = []
        while let page = address, out.count < query.limit {
            guard pages.insert(page).inserted else {
                throw AIError(.protocolViolation, "the answer of \(endpoint.origin) to a search runs in a circle")
            }
            let (json, fields) = try await json(page, fault: fault(nil))
            guard let entries = json.array else {
                throw AIError(
                    .protocolViolation, "\(endpoint.origin) answers a search with something that is no list")
            }
            // An entry with a name that is none is skipped: one odd row must not hide the others.
            for entry in entries {
                if let record = ModelRecord(json: entry, kind: query.kind) {
                    out.append(record)
                } else {
                    log("skipped an entry whose name is \"\((entry["id"]?.string ?? "").printable)\"")
                }
            }
            address = entries.isEmpty ? nil : try nextPage(fields, after: page)
        }
        return Array(out.prefix(max(0, query.limit)))
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
