extension Schema {
    /// Scans of caches as the scanner's own bytes, by two tables: what a list needs is read without the rest. What the
    /// tables before them held lies in the caches themselves.
    static let scans = """
        DROP TABLE directories;
        DROP TABLE blobs;
        DROP TABLE repositories;
        CREATE TABLE repositories (
            repository INTEGER PRIMARY KEY,
            cache INTEGER NOT NULL REFERENCES caches ON DELETE CASCADE,
            folder TEXT NOT NULL,
            summary BLOB NOT NULL,
            UNIQUE (cache, folder)
        ) STRICT;
        CREATE TABLE scans (
            repository INTEGER PRIMARY KEY REFERENCES repositories ON DELETE CASCADE,
            details BLOB NOT NULL
        ) STRICT;
        """
}
