extension Schema {
    /// Results of value scans, with the scanned file's fingerprint: results stored by name only are dropped.
    static let checkedFiles = """
        DROP TABLE checks;
        CREATE TABLE checks (
            sha256 TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
            size INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL,
            version INTEGER NOT NULL, whole INTEGER NOT NULL, checked_at REAL NOT NULL, findings TEXT NOT NULL,
            PRIMARY KEY (sha256, device, inode)
        ) STRICT, WITHOUT ROWID;
        """
}
