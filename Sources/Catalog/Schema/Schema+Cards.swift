extension Schema {
    /// Summaries of commits' READMEs. Empty if a README has none, so that it is not read again.
    static let cards = """
        CREATE TABLE cards (
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            "commit" TEXT NOT NULL, summary TEXT NOT NULL, fetched_at REAL NOT NULL,
            PRIMARY KEY (model, "commit")
        ) STRICT, WITHOUT ROWID;
        """
}
