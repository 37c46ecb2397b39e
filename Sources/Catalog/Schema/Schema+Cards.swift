extension Schema {
    /// What the READMEs of commits say first. No text where a README says nothing, so that it is not read again.
    static let cards = """
        CREATE TABLE cards (
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            "commit" TEXT NOT NULL, summary TEXT NOT NULL, fetched_at REAL NOT NULL,
            PRIMARY KEY (model, "commit")
        ) STRICT, WITHOUT ROWID;
        """
}
