extension Schema {
    /// Pins are what a person asked never to be deleted. Facts are about the catalog itself, such as who filled it.
    static let keeping = """
        CREATE TABLE pins (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, note TEXT, pinned_at REAL NOT NULL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        """

    /// The tables whose rows neither the Hub nor the cache can give back. Backups hold them alone, and they survive when
    /// the catalog is made again. A migration that makes another such table adds it here.
    static let kept = ["pins", "uses", "bandwidth", "registry", "choices"]
}
