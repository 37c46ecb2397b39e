public import HubCore

extension Catalog {
    /// The models that meet a query, in its order. All words of its text must occur in a model's id, author, tags, task,
    /// library or licence, each as the beginning of a word (a single letter or digit as a whole one). An empty text
    /// lists all.
    public func search(_ query: ModelQuery) throws(AIError) -> [KnownModel] {
        guard query.limit != 0 else { return [] }
        return try read { connection in
            var expression = SearchExpression(query.kind)
            // What a condition names stands among the words of the index too: that leaves few rows to look at.
            for condition in [query.author, query.task, query.library, query.license, query.format] + query.tags {
                try expression.require(words: condition, connection)
            }
            try expression.require(beginnings: query.text, connection)
            guard !expression.isHopeless else { return [] }
            return try Search(query: query, expression: expression, connection: connection).answer()
        }
    }
}

/// One search: chooses the way to the rows, and takes those that meet every condition until there are enough.
private struct Search {
    let query: ModelQuery
    let expression: SearchExpression
    let connection: Connection

    /// With so many matches it is quicker to sort them than to walk through the models in the wanted order.
    private static let fewMatches: Int64 = 20_000

    func answer() throws -> [KnownModel] {
        if let ids = query.ids { return try query.sorted(among(ids)) }
        guard let column = query.sort.column else { return try byPopularity() }
        // The unknown come last, the most popular of them first.
        let known = try hasFewMatches() ? sortingMatches(by: column) : walking(by: column)
        guard query.limit < 0 || known.count < query.limit else { return known }
        return known
            + (try byPopularity("\(column) IS NULL", room: query.limit < 0 ? -1 : query.limit - known.count))
    }

    private func hasFewMatches() throws -> Bool {
        guard expression.isNarrowed else { return false }
        let count = try connection.first(
            "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)", expression.text,
            Self.fewMatches, map: { $0.int(0) })
        return count ?? 0 < Self.fewMatches
    }

    /// Streams the index, the popular first.
    private func byPopularity(_ condition: String = "TRUE", room: Int? = nil) throws -> [KnownModel] {
        try collect(
            """
            SELECT \(ModelRow.columns) FROM search CROSS JOIN models ON model = \(Popularity.model)
            WHERE search MATCH ? AND \(condition) AND \(filter.sql) ORDER BY search.rowid
            """, [expression.text] + filter.values, room: room)
    }

    private func sortingMatches(by column: String) throws -> [KnownModel] {
        try collect(
            """
            SELECT \(ModelRow.columns) FROM search CROSS JOIN models ON model = \(Popularity.model)
            WHERE search MATCH ? AND \(column) IS NOT NULL AND \(filter.sql) ORDER BY \(column) DESC, search.rowid
            """, [expression.text] + filter.values)
    }

    /// Goes through the models in the wanted order and asks the index of each whether it matches.
    private func walking(by column: String) throws -> [KnownModel] {
        let matches = "EXISTS (SELECT 1 FROM search WHERE search MATCH ? AND search.rowid = \(Popularity.row))"
        return try collect(
            """
            SELECT \(ModelRow.columns) FROM models
            WHERE \(column) IS NOT NULL AND \(filter.sql) AND \(expression.isNarrowed ? matches : "? IS NOT NULL")
            ORDER BY \(column) DESC
            """, filter.values + [expression.text])
    }

    private func among(_ ids: [String]) throws -> [KnownModel] {
        let matches = "EXISTS (SELECT 1 FROM search WHERE search MATCH ? AND search.rowid = \(Popularity.row))"
        return try collect(
            """
            SELECT \(ModelRow.columns) FROM json_each(?) CROSS JOIN models ON kind = ? AND id = json_each.value
            WHERE \(filter.sql) AND \(matches) ORDER BY \(Popularity.row)
            """,
            [JSON.array(ids.map { .string($0) }).text(), query.kind.rawValue] + filter.values + [expression.text],
            room: -1)
    }

    /// What the columns tell at once; the rest is asked of each record.
    private var filter: (sql: String, values: [any SQLBindable]) {
        var conditions = ["kind = ?"]
        var values: [any SQLBindable] = [query.kind.rawValue]
        func require(_ condition: String, _ value: (any SQLBindable)?) {
            guard let value else { return }
            conditions.append(condition)
            values.append(value)
        }
        if !query.includesVanished { conditions.append("vanished_at IS NULL") }
        require("parameters >= ?", query.minimumParameters)
        require("parameters <= ?", query.maximumParameters)
        require("used_storage <= ?", query.maximumSize)
        switch query.gated {
        case true?: conditions.append("gated IN ('auto', 'manual')")
        case false?: conditions.append("gated = 'open'")
        case nil: break
        }
        return (conditions.joined(separator: " AND "), values)
    }

    private func collect(_ sql: String, _ values: [any SQLBindable], room: Int? = nil) throws -> [KnownModel] {
        let room = room ?? query.limit
        var out: [KnownModel] = []
        guard room != 0 else { return out }
        try connection.each(sql, list: values) { row in
            let known = try ModelRow.read(row, connection).known
            if query.matches(known.record) { out.append(known) }
            return out.count != room
        }
        return out
    }
}

extension ModelQuery {
    fileprivate func sorted(_ models: [KnownModel]) -> [KnownModel] {
        let sorted = sorted(models) { $0.record }
        return limit < 0 ? sorted : Array(sorted.prefix(limit))
    }
}

extension ModelQuery.Sort {
    /// The column that it goes by; nil for the order of popularity.
    fileprivate var column: String? {
        switch self {
        case .relevance: nil
        case .downloads: "downloads"
        case .likes: "likes"
        case .trending: "trending"
        case .updated: "updated_at"
        case .created: "created_at"
        case .size: "used_storage"
        }
    }
}
