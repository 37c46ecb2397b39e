public import HubCore

extension Catalog {
    /// Takes in what the Hub said. A field that the answer left out keeps what was known.
    ///
    /// - Parameter detailed: whether the answers are the models' own pages, not a list.
    public func remember(_ records: [ModelRecord], detailed: Bool = false, at now: Double) throws(AIError) {
        try write { connection in
            for record in records { _ = try Self.upsert(record, detailed: detailed, now: now, connection) }
        }
    }

    /// What is known of a repository; nil where nothing is.
    public func model(_ repository: Repository) throws(AIError) -> KnownModel? {
        try read { connection in
            try connection.first(
                "SELECT \(Self.columns) FROM models WHERE kind = ? AND id = ?", repository.kind.rawValue,
                repository.id.name, map: Self.knownModel
            ).map { try Self.withTags($0, connection) }
        }
    }

    /// The models that contain all words of `text` (prefixes count), the most downloaded first. An empty text lists all.
    ///
    /// - Parameter limit: at most so many; a negative number means all.
    public func search(_ query: ModelQuery) throws(AIError) -> [KnownModel] {
        try read { connection in
            var conditions = ["kind = ?"]
            var values: [any SQLBindable] = [query.kind.rawValue]
            func require(_ condition: String, _ value: any SQLBindable) {
                conditions.append(condition)
                values.append(value)
            }
            if let match = SearchIndex.match(query.text) {
                require("rank IN (SELECT rowid FROM search WHERE search MATCH ?)", match)
            }
            // The Hub's lists leave the author out; it is the part of the id before the slash.
            if let author = query.author {
                require("COALESCE(author, substr(id, 1, instr(id, '/') - 1)) = ?", author)
            }
            if let task = query.task { require("task = ?", task) }
            if let library = query.library { require("library = ?", library) }
            if let license = query.license { require("license = ?", license) }
            for tag in query.tags {
                require("model IN (SELECT model FROM model_tags JOIN tags USING (tag) WHERE name = ?)", tag)
            }
            switch query.gated {
            case true?: conditions.append("gated IN ('auto', 'manual')")
            case false?: conditions.append("gated = 'open'")
            case nil: break
            }
            let order: String
            switch query.sort {
            case .relevance, .downloads:
                order = query.sort == .relevance ? "rank" : "downloads DESC NULLS LAST, rank"
            case .likes: order = "likes DESC NULLS LAST, rank"
            case .trending: order = "trending DESC NULLS LAST, rank"
            case .updated: order = "updated_at DESC NULLS LAST, rank"
            case .created: order = "created_at DESC NULLS LAST, rank"
            case .size: order = "used_storage DESC NULLS LAST, rank"
            }
            let sql = """
                SELECT \(Self.columns) FROM models WHERE vanished_at IS NULL AND \(conditions.joined(separator: " AND "))
                ORDER BY \(order) LIMIT ?
                """
            return try connection.query(sql, list: values + [query.limit], map: Self.knownModel).map {
                try Self.withTags($0, connection)
            }
        }
    }

    static let columns = """
        model, kind, id, author, task, library, license, downloads, likes, trending, parameters, used_storage, gated, private,
        disabled, created_at, updated_at, seen_at, detailed_at
        """

    static func knownModel(_ row: Row) throws -> (Int64, KnownModel) {
        guard let kind = RepositoryKind(rawValue: row.text(1)) else {
            throw AIError(.catalogUnusable, "the catalog holds a repository of the unknown kind \"\(row.text(1))\"")
        }
        var record = ModelRecord(Repository(kind, try RepositoryID(row.text(2))))
        record.author = row.optionalText(3)
        record.task = row.optionalText(4)
        record.library = row.optionalText(5)
        record.license = row.optionalText(6)
        record.downloads = row.optionalInt(7)
        record.likes = row.optionalInt(8)
        record.trendingScore = row.optionalDouble(9)
        record.parameters = row.optionalInt(10)
        record.usedStorage = row.optionalInt(11)
        record.gating = row.optionalText(12).flatMap(ModelRecord.Gating.init(rawValue:))
        record.isPrivate = row.optionalBool(13)
        record.isDisabled = row.optionalBool(14)
        record.createdAt = row.optionalDouble(15)
        record.updatedAt = row.optionalDouble(16)
        return (row.int(0), KnownModel(record: record, seenAt: row.double(17), detailedAt: row.optionalDouble(18)))
    }

    static func withTags(_ found: (Int64, KnownModel), _ connection: Connection) throws -> KnownModel {
        var model = found.1
        let tags = try connection.query(
            "SELECT name FROM model_tags JOIN tags USING (tag) WHERE model = ? ORDER BY position", found.0,
            map: { $0.text(0) })
        model.record.tags = tags.isEmpty ? nil : tags
        return model
    }

    /// The row of a repository, made or brought up to date.
    static func upsert(_ new: ModelRecord, detailed: Bool, now: Double, _ connection: Connection) throws -> Int64 {
        let old = try connection.first(
            "SELECT \(columns) FROM models WHERE kind = ? AND id = ?", new.repository.kind.rawValue,
            new.repository.id.name, map: knownModel)
        guard let (model, known) = old else { return try insert(new, detailed: detailed, now: now, connection) }
        let before = try withTags((model, known), connection).record
        let after = before.updated(with: new)
        try connection.run(
            """
            UPDATE models SET author = ?, task = ?, library = ?, license = ?, downloads = ?, likes = ?, trending = ?,
                parameters = ?, used_storage = ?, gated = ?, private = ?, disabled = ?, created_at = ?, updated_at = ?,
                seen_at = ?, detailed_at = COALESCE(?, detailed_at), vanished_at = NULL
            WHERE model = ?
            """,
            after.author, after.task, after.library, after.license, after.downloads, after.likes,
            after.trendingScore,
            after.parameters, after.usedStorage, after.gating?.rawValue, after.isPrivate, after.isDisabled,
            after.createdAt, after.updatedAt, now, detailed ? now : nil, model)
        let oldRank =
            try connection.first("SELECT rank FROM models WHERE model = ?", model, map: { $0.int(0) }) ?? 0
        let moves = Popularity.hasDrifted(rank: oldRank, downloads: after.downloads)
        let rank = moves ? Popularity.rank(downloads: after.downloads, model: model) : oldRank
        let (oldText, newText) = (SearchIndex.Document(record: before), SearchIndex.Document(record: after))
        if rank != oldRank || oldText != newText {
            try SearchIndex.delete(oldText, rank: oldRank, connection)
            try connection.run("UPDATE models SET rank = ? WHERE model = ?", rank, model)
            try SearchIndex.insert(newText, rank: rank, connection)
        }
        if after.tags?.map(ExactText.init) != before.tags?.map(ExactText.init) {
            try setTags(after.tags ?? [], of: model, connection)
        }
        return model
    }

    private static func insert(_ new: ModelRecord, detailed: Bool, now: Double, _ connection: Connection) throws
        -> Int64
    {
        let model = (try connection.first("SELECT max(model) FROM models", map: { $0.int(0) }) ?? 0) + 1
        let rank = Popularity.rank(downloads: new.downloads, model: model)
        try connection.run(
            """
            INSERT INTO models (model, kind, id, rank, author, task, library, license, downloads, likes, trending, parameters,
                used_storage, gated, private, disabled, created_at, updated_at, seen_at, detailed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            model, new.repository.kind.rawValue, new.repository.id.name, rank, new.author, new.task, new.library,
            new.license, new.downloads, new.likes, new.trendingScore, new.parameters, new.usedStorage,
            new.gating?.rawValue, new.isPrivate, new.isDisabled, new.createdAt, new.updatedAt, now,
            detailed ? now : nil)
        try SearchIndex.insert(SearchIndex.Document(record: new), rank: rank, connection)
        try setTags(new.tags ?? [], of: model, connection)
        return model
    }

    private static func setTags(_ tags: [String], of model: Int64, _ connection: Connection) throws {
        try connection.run("DELETE FROM model_tags WHERE model = ?", model)
        for (position, name) in tags.enumerated() {
            try connection.run("INSERT INTO tags (name) VALUES (?) ON CONFLICT DO NOTHING", name)
            try connection.run(
                "INSERT INTO model_tags (model, position, tag) SELECT ?, ?, tag FROM tags WHERE name = ?", model,
                position, name)
        }
    }
}

extension ModelRecord {
    /// This record with every field that `new` knows.
    func updated(with new: ModelRecord) -> ModelRecord {
        /// What the Hub can take back: absent from an answer that would have had it, it is gone.
        func kept<Value>(_ old: Value?) -> Value? { new.isExhaustive ? nil : old }
        var out = self
        out.author = new.author ?? author
        out.task = new.task ?? kept(task)
        out.library = new.library ?? kept(library)
        out.license = new.license ?? kept(license)
        out.downloads = new.downloads ?? downloads
        out.likes = new.likes ?? likes
        out.trendingScore = new.trendingScore ?? kept(trendingScore)
        out.parameters = new.parameters ?? kept(parameters)
        out.usedStorage = new.usedStorage ?? kept(usedStorage)
        out.gating = new.gating ?? kept(gating)
        out.isPrivate = new.isPrivate ?? isPrivate
        out.isDisabled = new.isDisabled ?? isDisabled
        out.createdAt = new.createdAt ?? createdAt
        out.updatedAt = new.updatedAt ?? updatedAt
        out.tags = new.tags ?? tags
        return out
    }
}
