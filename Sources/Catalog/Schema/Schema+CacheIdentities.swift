extension Schema {
    /// A cache is identified by the id in it, else by its folder's device and inode, else by its path, so that it can
    /// be moved. A removed pin keeps its row with the time, so that a backup with the pin is known to be older.
    static let cacheIdentities = """
        CREATE TABLE cache_ids (
            id TEXT PRIMARY KEY, path TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE pins ADD COLUMN removed_at REAL;
        """
}
