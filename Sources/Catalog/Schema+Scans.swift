extension Schema {
    /// Scans of caches as the scanner's own bytes, by two tables: what a list needs is read without the rest. What the
    /// tables before them held lies in the caches themselves.
    static let scans = """
        DROP TABLE directories;
        DROP TABLE blobs;
        DROP TABLE repositories;
        CREATE TABLE scans (
            scan INTEGER PRIMARY KEY,
            cache INTEGER NOT NULL REFERENCES caches ON DELETE CASCADE,
            folder TEXT NOT NULL,
            summary BLOB NOT NULL,
            UNIQUE (cache, folder)
        ) STRICT;
        CREATE TABLE scan_details (
            scan INTEGER PRIMARY KEY REFERENCES scans ON DELETE CASCADE,
            details BLOB NOT NULL
        ) STRICT;
        """
}
