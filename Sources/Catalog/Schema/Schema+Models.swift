extension Schema {
    /// The Hub's two million models in some 300 bytes each. Names that many models share are numbers of `tags`, a model's
    /// tags a packed list of them (see ``SharedNames``); `step` is its popularity (see ``Popularity``). A model is found by
    /// ``ModelRow/name(_:)``.
    ///
    /// The search index keeps neither text nor positions. FTS5's prefix index would be larger than all the rest of it:
    /// ``SearchExpression`` looks beginnings up in the table of words instead. FTS5 gathers sixteen megabytes of new rows
    /// before it writes them, not one: less has to be joined later. That setting is kept in the index.
    /// https://sqlite.org/src/file?name=ext/fts5/fts5_config.c
    ///
    /// The partial indexes serve `--sort`; most models are below what they hold, and would only cost (see Catalog+Search).
    /// https://www.sqlite.org/partialindex.html
    static let models = """
        CREATE TABLE models (
            model INTEGER PRIMARY KEY,
            name INTEGER NOT NULL,
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            step INTEGER NOT NULL,
            \(ModelColumn.all.filter { $0.since == 1 }.map(\.declaration).joined(separator: ", ")),
            seen_at REAL NOT NULL, detailed_at REAL, vanished_at REAL
        ) STRICT;
        CREATE INDEX models_by_name ON models (name);
        CREATE INDEX models_by_update ON models (updated_at);
        CREATE INDEX models_by_downloads ON models (downloads) WHERE downloads > 99;
        CREATE INDEX models_by_likes ON models (likes) WHERE likes > 9;
        CREATE INDEX models_by_trend ON models (trending) WHERE trending > 0;
        CREATE TABLE tags (tag INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE words (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE VIRTUAL TABLE search USING fts5 (
            words, content='', columnsize=0, detail=none, tokenize="unicode61 remove_diacritics 2"
        );
        INSERT INTO search (search, rank) VALUES ('hashsize', 16777216);
        """
}
