extension Schema {
    /// Scans of caches as the scanner's own bytes, in two tables, so that lists read only the summaries. The earlier
    /// tables' data can be rescanned.
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
