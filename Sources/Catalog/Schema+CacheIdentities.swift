extension Schema {
    /// A cache is known by the id that lies in it, or by its folder's device and inode, and only last by its path, so that
    /// it can be moved. A pin that was taken away leaves its row: a copy of the catalog that still has it is older then.
    static let cacheIdentities = """
        CREATE TABLE cache_ids (
            id TEXT PRIMARY KEY, path TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE pins ADD COLUMN removed_at REAL;
        """
}
