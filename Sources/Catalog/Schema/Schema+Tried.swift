extension Schema {
    /// How the smoke tests of `hub try` ended, by repository and commit: what was tried is the same in every cache. Another
    /// test finds it again, so that it is not kept where the catalog is lost.
    static let tried = """
        CREATE TABLE tried (
            repository TEXT NOT NULL, "commit" TEXT NOT NULL, tried_at REAL NOT NULL, verdict TEXT NOT NULL,
            tokens_per_second REAL,
            PRIMARY KEY (repository, "commit")
        ) STRICT, WITHOUT ROWID;
        """
}
