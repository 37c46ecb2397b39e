extension Schema {
    /// The file choices of cached revisions' pulls.
    static let choices = """
        CREATE TABLE choices (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, choice TEXT NOT NULL,
            chosen_at REAL NOT NULL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        """
}
