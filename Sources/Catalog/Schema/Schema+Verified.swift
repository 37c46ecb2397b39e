extension Schema {
    /// Content that was read and compared with its digest, whether it was right, and what its file was like then.
    /// `folder` is that of the repository, for a file that is no blob its path below the cache; a folder of one's own is a
    /// cache of its own.
    static let verified = """
        CREATE TABLE verified (
            cache TEXT NOT NULL, folder TEXT NOT NULL, etag TEXT NOT NULL,
            size INTEGER NOT NULL, modified INTEGER NOT NULL, inode INTEGER NOT NULL, verified_at REAL NOT NULL,
            is_sound INTEGER NOT NULL,
            PRIMARY KEY (cache, folder, etag)
        ) STRICT, WITHOUT ROWID;
        """
}
