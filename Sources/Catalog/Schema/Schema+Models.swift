import HubCore

extension Schema.Migration {
    /// Runs the step within the caller's transaction.
    func run(_ connection: Connection) throws {
        try connection.execute(sql)
        try convert?(connection)
    }
}

extension Schema {
    /// The Hub's two million models in about 300 bytes each. Shared names are numbers of `tags`, a model's tags a
    /// packed list of them (see ``Names``); `step` is its popularity (see ``Popularity``). The search index keeps
    /// neither text nor positions; without FTS5's prefix index, which would be larger than the rest,
    /// ``SearchExpression`` looks up prefixes in the table of words.
    ///
    /// The indexes serve `--sort`; they leave out most models, which would only cost space (see Catalog+Search).
    /// https://www.sqlite.org/partialindex.html
    static let mirror = """
        PRAGMA legacy_alter_table = ON;
        ALTER TABLE models RENAME TO old_models;
        PRAGMA legacy_alter_table = OFF;
        DROP TABLE search;
        \(models)
        CREATE TABLE words (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE VIRTUAL TABLE search USING fts5 (
            words, content='', columnsize=0, detail=none, tokenize="unicode61 remove_diacritics 2"
        );
        """

    /// Models are looked up by ``ModelRow/name(_:)``.
    private static let models = """
        CREATE TABLE models (
            model INTEGER PRIMARY KEY,
            name INTEGER NOT NULL,
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            step INTEGER NOT NULL,
            author TEXT, task INTEGER, library INTEGER, license INTEGER, tags BLOB,
            downloads INTEGER, likes INTEGER, trending REAL,
            parameters INTEGER, used_storage INTEGER,
            gated TEXT, private INTEGER, disabled INTEGER,
            created_at REAL, updated_at REAL,
            seen_at REAL NOT NULL, detailed_at REAL, vanished_at REAL
        ) STRICT;
        """

    private static let mirrorIndexes = """
        CREATE INDEX models_by_name ON models (name);
        CREATE INDEX models_by_update ON models (updated_at);
        CREATE INDEX models_by_downloads ON models (downloads) WHERE downloads > 99;
        CREATE INDEX models_by_likes ON models (likes) WHERE likes > 9;
        CREATE INDEX models_by_trend ON models (trending) WHERE trending > 0;
        """

    /// Converts the models of the first versions.
    @Sendable static func convertMirror(_ connection: Connection) throws {
        let tags = try connection.query(
            "SELECT model, name FROM model_tags JOIN tags USING (tag) ORDER BY model, position",
            map: { ($0.int(0), $0.text(1)) })
        var tagsOf: [Int64: [String]] = [:]
        for (model, name) in tags { tagsOf[model, default: []].append(name) }
        let old = try connection.query(
            """
            SELECT model, kind, id, author, task, library, license, downloads, likes, trending, parameters, used_storage,
                gated, private, disabled, created_at, updated_at FROM old_models
            """
        ) { row -> (Int64, ModelRecord)? in
            // An invalid name could never be looked up.
            guard let kind = RepositoryKind(rawValue: row.text(1)), let id = try? RepositoryID(row.text(2)) else {
                return nil
            }
            var record = ModelRecord(Repository(kind, id))
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
            record.tags = tagsOf[row.int(0)]
            return (row.int(0), record)
        }
        var intake = try Intake(connection, detailed: false, now: 0)
        for case (let model, let record)? in old { try intake.insert(record, as: model) }
        _ = try intake.end()
        // Tags that already have numbers.
        for name in try connection.query("SELECT name FROM tags", map: { $0.text(0) }) {
            try connection.vocabulary.add(name, connection)
        }
        try connection.execute(
            """
            UPDATE models SET seen_at = old_models.seen_at, detailed_at = old_models.detailed_at, vanished_at = old_models.vanished_at
            FROM old_models WHERE old_models.model = models.model
            """)
        try connection.execute("DROP TABLE model_tags; DROP TABLE old_models; \(mirrorIndexes)")
    }

    /// FTS5 buffers sixteen megabytes of new rows instead of one, so there is less to merge later. The setting is
    /// stored in the index. https://sqlite.org/src/file?name=ext/fts5/fts5_config.c
    static let names = "INSERT INTO search (search, rank) VALUES ('hashsize', 16777216)"

    /// The table that ``mirror`` made at first had an index of kinds and ids as large as the table.
    @Sendable static func convertNames(_ connection: Connection) throws {
        let columns = try connection.columns(of: "models").map(\.name)
        guard !columns.contains("name") else { return }
        let list = columns.joined(separator: ", ")
        try connection.execute(
            """
            PRAGMA legacy_alter_table = ON;
            ALTER TABLE models RENAME TO old_models;
            PRAGMA legacy_alter_table = OFF;
            \(models)
            INSERT INTO models (name, \(list)) SELECT 0, \(list) FROM old_models;
            DROP TABLE old_models;
            """)
        var last: Int64 = -1
        while true {
            let some = try connection.query(
                "SELECT model, kind, id FROM models WHERE model > ? ORDER BY model LIMIT 1000", last,
                map: { (model: $0.int(0), kind: $0.text(1), id: $0.text(2)) })
            guard let end = some.last else { break }
            last = end.model
            for row in some {
                // An invalid name cannot be looked up and counts as damage.
                guard let kind = RepositoryKind(rawValue: row.kind), let id = try? RepositoryID(row.id) else {
                    continue
                }
                try connection.run(
                    "UPDATE models SET name = ? WHERE model = ?", ModelRow.name(Repository(kind, id)), row.model)
            }
        }
        try connection.execute(mirrorIndexes)
        // Authors were stored as typed, and the end of a walk instead of its start.
        try connection.execute(
            """
            UPDATE OR IGNORE mirrors SET author = lower(author);
            DELETE FROM walk_pages WHERE mirror IN (SELECT mirror FROM mirrors WHERE author <> lower(author));
            DELETE FROM walks WHERE mirror IN (SELECT mirror FROM mirrors WHERE author <> lower(author));
            DELETE FROM mirrors WHERE author <> lower(author);
            UPDATE mirrors SET walked_at = NULL, synced_at = NULL;
            """)
    }
}
