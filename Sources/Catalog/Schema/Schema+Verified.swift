extension Schema {
    /// Content compared with its digest: the result, and the file's state then. `folder` is the repository's, or for a
    /// file that is not a blob its path relative to the cache; a local folder counts as a cache.
    static let verified = """
        CREATE TABLE verified (
            cache TEXT NOT NULL, folder TEXT NOT NULL, etag TEXT NOT NULL,
            size INTEGER NOT NULL, modified INTEGER NOT NULL, inode INTEGER NOT NULL, verified_at REAL NOT NULL,
            is_sound INTEGER NOT NULL,
            PRIMARY KEY (cache, folder, etag)
        ) STRICT, WITHOUT ROWID;
        """
}
