extension Schema {
    /// What is known of the stores of other programs.
    ///
    /// - `stores`: the last look at a folder, as the walk's own bytes.
    /// - `digests`: SHA-256 of files outside the cache. A file counts as the same while device, inode, size and both times
    ///   are: of its content (`modified`) and of its inode (`changed`), which programs cannot set back.
    /// - `adoptions`: what `hub cache adopt` linked, for undoing it: the path whose name was replaced, the file it shares its
    ///   content with, how, and the modification time it had. It is kept where the catalog is lost.
    /// - `budgets`: the size that a cache and its trash may have, a JSON list of what stays, and seconds without use. Kept, too.
    static let stores = """
        CREATE TABLE stores (path TEXT PRIMARY KEY, folders BLOB NOT NULL) STRICT;
        CREATE TABLE digests (
            device INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
            changed INTEGER NOT NULL, sha256 TEXT NOT NULL,
            PRIMARY KEY (device, inode)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE adoptions (
            path TEXT NOT NULL, action TEXT NOT NULL, source TEXT NOT NULL, sha256 TEXT NOT NULL,
            size INTEGER NOT NULL, modified REAL NOT NULL, adopted_at REAL NOT NULL,
            PRIMARY KEY (path, action)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE budgets (
            cache TEXT PRIMARY KEY, bytes INTEGER NOT NULL, keep TEXT NOT NULL, older_than INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX files_by_sha256 ON files (sha256) WHERE sha256 IS NOT NULL;
        """
}
