public import HubCore

extension Catalog {
    /// The models that match a query, in its order. All words of its text must occur in a model's id, author, tags,
    /// task, library or licence, each as the beginning of a word (a single letter or digit as a whole one). An empty
    /// text lists all.
    public func search(_ query: ModelQuery) throws(AIError) -> [KnownModel] {
        guard query.limit != 0 else { return [] }
        return try read { connection in
            var expression = SearchExpression(query.kind)
            // Conditions are in the index as words too, which leaves few rows to test.
            try expression.require(author: query.author, connection)
            for condition in [query.task, query.library, query.license, query.format] + query.tags {
                try expression.require(words: condition, connection)
            }
            if let capability = query.capability {
                let tags = capability.tasks.sorted() + capability.tags
                try expression.require(anyOf: tags, connection)
            }
            try expression.require(beginnings: query.text, connection)
            guard !expression.isHopeless else { return [] }
            return try Search(query: query, expression: expression, connection: connection).answer()
        }
    }
}

/// One search: chooses the access path and collects matching rows until there are enough.
private struct Search {
    let query: ModelQuery
    let expression: SearchExpression
    let connection: CatalogConnection
    /// The expression that leaves nothing to look at.
    private var complete: SearchExpression { get throws { try expression.complete(connection) } }

    /// Up to this many matches sorting is faster than walking the models in order.
    private static let fewMatches: Int64 = 20_000

    func answer() throws -> [KnownModel] {
        if let ids = query.ids { return query.sorted(try among(ids)) }
        guard let order = query.sort.order else { return try byRelevance() }
        var out: [KnownModel] = []
        func room() -> Int { query.limit < 0 ? -1 : query.limit - out.count }
        if let test = try PrefixFilter(expression.words, connection), try !hasFewMatches() {
            // Those that the index holds, then the many others, for which every row is read.
            if let most = order.indexed {
                out += try walking(by: order.column, "\(order.column) > \(most)", room(), test)
            }
            let rest = order.indexed.map { "\(order.column) <= \($0)" } ?? "\(order.column) IS NOT NULL"
            out += try walking(by: order.column, rest, room(), test)
        } else {
            out += try sortingMatches(by: order.column)
        }
        // Unknown values come last, by popularity.
        return out + (try byPopularity("\(order.column) IS NULL", room: room()))
    }

    /// An exact name first, then names with the words, each by popularity.
    private func byRelevance() throws -> [KnownModel] {
        let found = try byPopularity(named: query.namedWords)
        guard query.limit > 0, found.count == query.limit, let id = try? RepositoryID(query.text),
            let exact = try called(id), exact.vanishedAt == nil || query.includesVanished,
            query.matches(exact.record)
        else { return query.exactFirst(found) }
        let others = found.filter { $0.record.repository != exact.record.repository }
        return query.exactFirst([exact] + others.prefix(query.limit - 1))
    }

    /// The model of an id, or the most popular one whose id differs only in case.
    private func called(_ id: RepositoryID) throws -> KnownModel? {
        if let known = try ModelRow.find(Repository(query.kind, id), connection) { return known.known }
        // Owner and name together leave few rows; a single word may leave half of them.
        guard id.owner != nil else { return nil }
        var expression = SearchExpression(query.kind)
        try expression.require(author: id.owner, connection)
        try expression.require(words: id.name, connection)
        return try connection.first(
            """
            SELECT \(ModelRow.columns) FROM search CROSS JOIN models ON model = \(Popularity.model)
            WHERE search MATCH ? AND id = ? COLLATE NOCASE AND kind = ? ORDER BY search.rowid LIMIT 1
            """, expression.text, id.name, query.kind.rawValue, map: { try ModelRow.read($0, connection).known })
    }

    private func hasFewMatches() throws -> Bool {
        guard expression.isNarrowed else { return false }
        let count = try connection.first(
            "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)", try complete.text,
            Self.fewMatches, map: { $0.int(0) })
        return count ?? 0 < Self.fewMatches
    }

    /// Streams the index by popularity. Broad prefixes are tested row by row, which soon finds matches; if not, the
    /// index evaluates them.
    ///
    /// - Parameter words: models with them in their name go first, among ``Taken/looked`` rows.
    private func byPopularity(_ condition: String = "TRUE", room: Int? = nil, named words: [[UInt8]] = []) throws
        -> [KnownModel]
    {
        func stream(_ expression: SearchExpression, _ test: PrefixFilter?) throws -> [KnownModel]? {
            try collect(
                """
                SELECT \(ModelRow.columns) FROM search CROSS JOIN models ON model = \(Popularity.model)
                WHERE search MATCH ? AND \(condition) AND \(filter.sql) ORDER BY search.rowid
                """, [expression.text] + filter.values, room: room, named: words, test,
                patience: test == nil ? .max : Taken.looked)
        }
        let room = room ?? query.limit
        if !expression.broad.isEmpty, room > 0, let test = try PrefixFilter(expression.broad, connection),
            let soon = try stream(expression, test)
        {
            return soon
        }
        return try stream(try complete, nil) ?? []
    }

    private func sortingMatches(by column: String) throws -> [KnownModel] {
        try collect(
            """
            SELECT \(ModelRow.columns) FROM search CROSS JOIN models ON model = \(Popularity.model)
            WHERE search MATCH ? AND \(column) IS NOT NULL AND \(filter.sql) ORDER BY \(column) DESC, search.rowid
            """, [try complete.text] + filter.values) ?? []
    }

    /// Goes through the models in the wanted order and looks at each: at the first two thousand, which are found without
    /// sorting the others, and at all where those are not enough.
    private func walking(by column: String, _ condition: String, _ room: Int, _ test: PrefixFilter) throws
        -> [KnownModel]
    {
        func walk(_ most: Int) throws -> [KnownModel] {
            // Without an index only row numbers are sorted; the limit keeps the queries separate.
            try collect(
                """
                SELECT \(ModelRow.columns) FROM
                    (SELECT model AS found FROM models WHERE \(condition) ORDER BY \(column) DESC LIMIT ?)
                CROSS JOIN models ON model = found WHERE \(filter.sql)
                """, [most] + filter.values, room: room, test) ?? []
        }
        if room > 0, case let first = try walk(2000), first.count == room { return first }
        return try walk(-1)
    }

    private func among(_ ids: [String]) throws -> [KnownModel] {
        guard let test = try PrefixFilter(expression.words, connection) else { return try byPopularity(room: -1) }
        // Of others the records are asked.
        let names = ids.compactMap { try? RepositoryID($0) }.map { ModelRow.name(Repository(query.kind, $0)) }
        return try collect(
            """
            SELECT \(ModelRow.columns) FROM (SELECT DISTINCT value AS wanted FROM json_each(?))
            CROSS JOIN models ON name = wanted WHERE \(filter.sql) ORDER BY step DESC, model
            """, [JSON.array(names.map { .int($0) }).text()] + filter.values, room: -1, test)
            ?? []
    }

    /// The conditions on columns; the others are tested on each record.
    private var filter: (sql: String, values: [any SQLBindable]) {
        var conditions = ["kind = ?"]
        var values: [any SQLBindable] = [query.kind.rawValue]
        func require(_ condition: String, _ value: (any SQLBindable)?) {
            guard let value else { return }
            conditions.append(condition)
            values.append(value)
        }
        if !query.includesVanished { conditions.append("vanished_at IS NULL") }
        require("used_storage <= ?", query.maximumSize)
        if query.minimumParameters != nil || query.maximumParameters != nil {
            // A count in the name is tested on the record.
            conditions.append("(parameters BETWEEN ? AND ? OR id GLOB '*[0-9][bBmMtT]*')")
            values += [query.minimumParameters ?? 0, query.maximumParameters ?? .max]
        }
        switch query.gated {
        case true?: conditions.append("gated IN ('auto', 'manual')")
        case false?: conditions.append("gated = 'open'")
        case nil: break
        }
        return (conditions.joined(separator: " AND "), values)
    }

    /// Collects matching rows until there is no more room.
    ///
    /// - Parameters:
    ///   - words: models with them in their name go first.
    ///   - test: an additional test of each row.
    ///   - patience: returns nil after this many rows without enough matches.
    private func collect(
        _ sql: String, _ values: [any SQLBindable], room: Int? = nil, named words: [[UInt8]] = [],
        _ test: PrefixFilter? = nil, patience: Int = .max
    ) throws -> [KnownModel]? {
        var taken = Taken(room: room ?? query.limit, words: words)
        guard taken.room != 0 else { return [] }
        var seen = 0
        try connection.each(sql, list: values) { row in
            seen += 1
            guard seen <= patience else { return false }
            if let test, try !test.passes(row) { return true }
            guard let isNamed = taken.wants(row.text(ModelRow.id)) else { return !taken.isFull }
            let known = try ModelRow.read(row, connection).known
            if query.matches(known.record) { taken.add(known, isNamed: isNamed) }
            return !taken.isFull
        }
        return seen <= patience || taken.hasEnough ? taken.models : nil
    }
}

/// The models found so far, by popularity. If words are given, models with them in their name go first, as far as the
/// first rows contain enough.
private struct Taken {
    /// Rows searched for matching names.
    static let looked = 500

    /// Maximum number; negative for all.
    let room: Int
    let words: [[UInt8]]
    private var named: [KnownModel] = []
    private var others: [KnownModel] = []
    private var seen = 0

    init(room: Int, words: [[UInt8]]) { (self.room, self.words) = (room, words) }

    var hasEnough: Bool { room >= 0 && named.count + others.count >= room }
    var isFull: Bool { named.count == room || (seen >= Self.looked && hasEnough) }
    var models: [KnownModel] { room < 0 ? named + others : Array((named + others).prefix(room)) }

    /// Whether a model has the words in its name; nil if it has not and there is no more room.
    mutating func wants(_ id: String) -> Bool? {
        seen += 1
        if words.isEmpty || ModelName.holds(words, id) { return true }
        return hasEnough ? nil : false
    }

    mutating func add(_ model: KnownModel, isNamed: Bool) {
        if isNamed { named.append(model) } else { others.append(model) }
    }
}

extension ModelQuery {
    fileprivate func sorted(_ models: [KnownModel]) -> [KnownModel] {
        let sorted = sorted(models) { $0.record }
        return limit < 0 ? sorted : Array(sorted.prefix(limit))
    }
}

extension ModelQuery.Sort {
    /// The sort column, and the value above which it is indexed; nil for popularity.
    fileprivate var order: (column: String, indexed: String?)? {
        switch self {
        case .relevance: nil
        case .downloads: ("downloads", "99")
        case .likes: ("likes", "9")
        case .trending: ("trending", "0")
        case .updated: ("updated_at", nil)
        case .created: ("created_at", nil)
        case .size: ("used_storage", nil)
        }
    }
}
