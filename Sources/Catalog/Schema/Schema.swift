/// The catalog's schema as an ordered list of migrations. A released step is never changed; new ones are added. The
/// file's `user_version` is the number of steps done.
enum Schema {
    /// One migration.
    struct Migration: Sendable {
        var name: String
        var sql: String
        /// Code to run after the SQL. It may call current functions, which must only use the tables of this step: later
        /// steps have not run yet.
        var convert: (@Sendable (Connection) throws -> Void)?
    }

    static let migrations: [Migration] = [
        Migration(name: "the Hub's metadata", sql: metadata),
        Migration(name: "the state of caches", sql: caches),
        Migration(name: "transfers", sql: transfers),
        Migration(name: "range digests", sql: rangeDigests),
        Migration(name: "the compact mirror", sql: mirror, convert: convertMirror),
        Migration(name: "the registry", sql: registry),
        Migration(name: "pins and facts", sql: keeping),
        Migration(name: "how far the mirror of the Hub has come", sql: mirrors),
        Migration(name: "cards", sql: cards),
        Migration(name: "scans of caches", sql: scans),
        Migration(name: "models by a number of their names", sql: names, convert: convertNames),
        Migration(name: "deletions under way", sql: deletions),
        Migration(name: "what was verified", sql: verified),
        Migration(name: "checks of blobs", sql: checks),
        Migration(name: "checks of blobs by what their files are like", sql: checkedFiles),
        Migration(name: "caches by their ids", sql: cacheIdentities),
        Migration(name: "choices of pulls", sql: choices),
    ]

    /// The first versions' models and search index; see ``mirror``.
    private static let metadata = """
        CREATE TABLE models (
            model INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            rank INTEGER NOT NULL UNIQUE,
            author TEXT, task TEXT, library TEXT, license TEXT,
            downloads INTEGER, likes INTEGER, trending REAL,
            parameters INTEGER, used_storage INTEGER,
            gated TEXT, private INTEGER, disabled INTEGER,
            created_at REAL, updated_at REAL,
            seen_at REAL NOT NULL, detailed_at REAL, vanished_at REAL,
            UNIQUE (kind, id)
        ) STRICT;
        CREATE TABLE tags (tag INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE model_tags (
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            position INTEGER NOT NULL,
            tag INTEGER NOT NULL REFERENCES tags,
            PRIMARY KEY (model, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX model_tags_by_tag ON model_tags (tag, model);
        CREATE TABLE revisions (
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            name TEXT NOT NULL, kind TEXT NOT NULL, "commit" TEXT NOT NULL, seen_at REAL NOT NULL,
            PRIMARY KEY (model, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE trees (
            tree INTEGER PRIMARY KEY,
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            "commit" TEXT NOT NULL, fetched_at REAL NOT NULL,
            UNIQUE (model, "commit")
        ) STRICT;
        CREATE TABLE files (
            tree INTEGER NOT NULL REFERENCES trees ON DELETE CASCADE,
            path TEXT NOT NULL, size INTEGER NOT NULL, oid TEXT NOT NULL, sha256 TEXT, xet TEXT,
            PRIMARY KEY (tree, path)
        ) STRICT, WITHOUT ROWID;
        CREATE VIRTUAL TABLE search USING fts5 (
            id, author, tags, task, content='', columnsize=0, detail=none,
            prefix='2 3', tokenize="unicode61 remove_diacritics 2"
        );
        """

    /// The contents of cache folders. `directories` holds modification times, so that a later run detects changes with
    /// one stat per folder.
    private static let caches = """
        CREATE TABLE caches (cache INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE repositories (
            repository INTEGER PRIMARY KEY,
            cache INTEGER NOT NULL REFERENCES caches ON DELETE CASCADE,
            folder TEXT NOT NULL,
            scan TEXT NOT NULL,
            UNIQUE (cache, folder)
        ) STRICT;
        CREATE TABLE directories (
            repository INTEGER NOT NULL REFERENCES repositories ON DELETE CASCADE,
            path TEXT NOT NULL, modified INTEGER NOT NULL,
            PRIMARY KEY (repository, path)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE blobs (
            repository INTEGER NOT NULL REFERENCES repositories ON DELETE CASCADE,
            etag TEXT NOT NULL, size INTEGER NOT NULL,
            PRIMARY KEY (repository, etag)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX blobs_by_etag ON blobs (etag);
        CREATE TABLE uses (
            cache TEXT NOT NULL, folder TEXT NOT NULL, "commit" TEXT NOT NULL, used_at REAL NOT NULL,
            PRIMARY KEY (cache, folder, "commit")
        ) STRICT, WITHOUT ROWID;
        """

    private static let transfers = """
        CREATE TABLE bandwidth (
            at REAL PRIMARY KEY, origin TEXT NOT NULL, bytes INTEGER NOT NULL, seconds REAL NOT NULL
        ) STRICT;
        """

    /// The SHA-256 states at each 16 MiB of verified blobs, to locate later damage.
    private static let rangeDigests = """
        CREATE TABLE range_digests (sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, states BLOB NOT NULL) STRICT, WITHOUT ROWID;
        """
}
