extension Schema {
    /// Pins protect revisions from deletion. Facts are about the catalog itself, such as which Hub filled it.
    static let keeping = """
        CREATE TABLE pins (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, note TEXT, pinned_at REAL NOT NULL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        """

    /// The tables whose rows neither the Hub nor the cache can restore. Backups hold only these, and they survive a
    /// rebuild of the catalog. A migration that adds such a table lists it here.
    static let kept = ["pins", "uses", "bandwidth", "registry", "cache_ids", "choices"]
}
