extension Schema {
    /// The first table of value scans; see ``checkedFiles``.
    static let checks = """
        CREATE TABLE checks (
            sha256 TEXT PRIMARY KEY, version INTEGER NOT NULL, whole INTEGER NOT NULL, checked_at REAL NOT NULL,
            findings TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
