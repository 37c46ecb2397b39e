extension Schema {
    /// What looking through the numbers of a blob gave, as it was kept at first; see ``checkedFiles``.
    static let checks = """
        CREATE TABLE checks (
            sha256 TEXT PRIMARY KEY, version INTEGER NOT NULL, whole INTEGER NOT NULL, checked_at REAL NOT NULL,
            findings TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
