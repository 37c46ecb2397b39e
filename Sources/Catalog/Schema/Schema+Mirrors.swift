extension Schema {
    /// The progress of each Hub's mirror. `author` is in lower case, empty for all authors. All changes until
    /// `known_until` (by the Hub's clock) are known. `synced_at` and `walked_at` are the start times of the last
    /// finished short and full walks.
    ///
    /// An unfinished walk has a row in `walks`: `cursor` is the next page, `newest` the future `known_until`,
    /// `last_row` the last model at its start. For a full walk `walk_pages` holds the row numbers of the models seen,
    /// by group of pages (see MirrorNotes).
    static let mirrors = """
        CREATE TABLE mirrors (
            mirror INTEGER PRIMARY KEY,
            endpoint TEXT NOT NULL, author TEXT NOT NULL,
            known_until REAL, synced_at REAL, walked_at REAL,
            UNIQUE (endpoint, author)
        ) STRICT;
        CREATE TABLE walks (
            mirror INTEGER NOT NULL REFERENCES mirrors ON DELETE CASCADE,
            kind TEXT NOT NULL,
            cursor TEXT NOT NULL, newest REAL, last_row INTEGER NOT NULL,
            began_at REAL NOT NULL, pages INTEGER NOT NULL, models INTEGER NOT NULL,
            PRIMARY KEY (mirror, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE walk_pages (
            mirror INTEGER NOT NULL REFERENCES mirrors ON DELETE CASCADE,
            page INTEGER NOT NULL, rows BLOB NOT NULL,
            PRIMARY KEY (mirror, page)
        ) STRICT;
        """
}
