extension Schema {
    /// Branches and tags, and of commits the files and what the README says first. No text where a README says nothing, so
    /// that it is not read again.
    static let trees = """
        CREATE TABLE revisions (
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            name TEXT NOT NULL, kind TEXT NOT NULL, "commit" TEXT NOT NULL, seen_at REAL NOT NULL,
            PRIMARY KEY (model, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE trees (
            tree INTEGER PRIMARY KEY,
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            "commit" TEXT NOT NULL, fetched_at REAL NOT NULL,
            UNIQUE (model, "commit")
        ) STRICT;
        CREATE TABLE files (
            tree INTEGER NOT NULL REFERENCES trees ON DELETE CASCADE,
            path TEXT NOT NULL, size INTEGER NOT NULL, oid TEXT NOT NULL, sha256 TEXT, xet TEXT,
            PRIMARY KEY (tree, path)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE cards (
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            "commit" TEXT NOT NULL, summary TEXT NOT NULL, fetched_at REAL NOT NULL,
            PRIMARY KEY (model, "commit")
        ) STRICT, WITHOUT ROWID;
        """
}
