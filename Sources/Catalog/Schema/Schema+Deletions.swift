extension Schema {
    /// What is being deleted from caches. A row is there from before the first step to after the last, so that a later run
    /// finishes what was cut off. `names` are entries of `blobs/`, `payloads` those of the shared store, both as JSON.
    static let deletions = """
        CREATE TABLE deletions (
            deletion INTEGER PRIMARY KEY,
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT, names TEXT NOT NULL, payloads TEXT NOT NULL,
            began_at REAL NOT NULL
        ) STRICT;
        """
}
