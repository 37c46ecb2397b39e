extension Schema {
    /// The tables whose rows neither the Hub nor the cache can restore. Backups hold only these, and they survive a
    /// rebuild of the catalog.
    static let keptTables = [
        "pins", "uses", "bandwidth", "registry", "cache_ids", "choices", "adoptions", "budgets",
    ]

    /// Their statements.
    ///
    /// - `pins`: what a person asked never to delete. A removed pin leaves its row with the time, so that a backup that still
    ///   has the pin is known to be older.
    /// - `uses`: when the revisions of a cache were last used.
    /// - `choices`: what the pulls of a cached revision have chosen of its files.
    /// - `cache_ids`: a cache is identified by the id in it, else by its folder's device and inode, else by its path, so that
    ///   it can be moved.
    /// - `bandwidth`: how fast pulls were.
    /// - `registry`: what the user added to the curated list and what of it they hide: a row without an id hides the shipped
    ///   entry of its alias. The shipped entries are never written here, so that an upgrade of hub changes them.
    static let kept = """
        CREATE TABLE pins (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, note TEXT, pinned_at REAL NOT NULL,
            removed_at REAL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE uses (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, used_at REAL NOT NULL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE choices (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, choice TEXT NOT NULL,
            chosen_at REAL NOT NULL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE cache_ids (
            id TEXT PRIMARY KEY, path TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE bandwidth (
            at REAL PRIMARY KEY, origin TEXT NOT NULL, bytes INTEGER NOT NULL, seconds REAL NOT NULL
        ) STRICT;
        CREATE TABLE registry (
            alias TEXT PRIMARY KEY,
            id TEXT, provider TEXT, name TEXT, description TEXT, size TEXT,
            context_length INTEGER, capabilities TEXT, parameters INTEGER, quantization TEXT,
            memory INTEGER, pick INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX registry_by_id ON registry (id) WHERE id IS NOT NULL;
        """
}
