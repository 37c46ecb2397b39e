extension Schema {
    /// The progress of each Hub's mirror. `author` is in lower case, empty for all authors. All changes until
    /// `known_until` (by the Hub's clock) are known. `synced_at` and `walked_at` are the start times of the last
    /// finished short and full walks.
    ///
    /// A walk along the Hub's list that is not at its end has a row in `walks`: `cursor` is the page to go on with,
    /// `newest` what `known_until` becomes at the end, `last_row` the last model there was at its beginning. Of a walk
    /// over everything `walk_pages` holds the models met, the row numbers of pages kept together in one row (see
    /// ``WalkPages``).
    ///
    /// Facts are about the catalog itself, such as who filled it.
    static let hubs = """
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
        CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        """
}
