extension Schema {
    /// What lies in caches, all of which they can tell again.
    ///
    /// - `repositories`, `scans`: scans as the scanner's own bytes, by two tables: what a list needs is read without the rest.
    /// - `verified`: content that was read and compared with its digest, whether it was right, and what its file was like
    ///   then. `folder` is that of the repository, for a file that is no blob its path below the cache; a folder of one's
    ///   own is a cache of its own.
    /// - `range_digests`: what SHA-256 came to at each 16 MiB of a blob that was proven, by which later damage is placed.
    /// - `checks`: what looking through the numbers of a blob gave, and which file was looked through.
    static let caches = """
        CREATE TABLE caches (cache INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
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
        CREATE TABLE verified (
            cache TEXT NOT NULL, folder TEXT NOT NULL, etag TEXT NOT NULL,
            size INTEGER NOT NULL, modified INTEGER NOT NULL, inode INTEGER NOT NULL, verified_at REAL NOT NULL,
            is_sound INTEGER NOT NULL,
            PRIMARY KEY (cache, folder, etag)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE range_digests (
            sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, states BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE checks (
            sha256 TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
            size INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL,
            version INTEGER NOT NULL, whole INTEGER NOT NULL, checked_at REAL NOT NULL, findings TEXT NOT NULL,
            PRIMARY KEY (sha256, device, inode)
        ) STRICT, WITHOUT ROWID;
        """
}
