extension Schema {
    /// Deletions in progress. A row exists from before the first step until after the last, so that a later run can
    /// finish an interrupted one. `names` are entries of `blobs/`, `payloads` those of the shared store, both as JSON.
    static let deletions = """
        CREATE TABLE deletions (
            deletion INTEGER PRIMARY KEY,
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT, names TEXT NOT NULL, payloads TEXT NOT NULL,
            began_at REAL NOT NULL
        ) STRICT;
        """
}
