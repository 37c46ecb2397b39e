extension Schema {
    /// How the smoke tests of remote models ended, by repository and provider: `hf:groq`. Another test finds it again, so
    /// that it is not kept where the catalog is lost.
    static let triedRemotely = """
        CREATE TABLE tried_remotely (
            repository TEXT NOT NULL, provider TEXT NOT NULL, tried_at REAL NOT NULL, verdict TEXT NOT NULL,
            tokens_per_second REAL,
            PRIMARY KEY (repository, provider)
        ) STRICT, WITHOUT ROWID;
        """
}
