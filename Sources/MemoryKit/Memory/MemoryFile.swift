import Catalog
import HubCore

/// The file that holds what was read of folders. It can be deleted at any time: folders are read again.
struct MemoryFile: Sendable {
    /// A document as it was when it was read.
    struct Document: Sendable {
        var id: Int64
        var path: String
        var fingerprint: FileFingerprint
        var digest: String
        /// False for a file that turned out to be none.
        var isDocument: Bool
    }

    /// The unit of a file that turned out to be no document.
    static let none = "none"

    /// A stretch that answers a question.
    struct Found: Sendable {
        var path: String
        /// `line` or `page`.
        var unit: String
        var cut: Cut
    }

    private let file: StateFile

    static func path(in stateDirectory: String) -> String { Path.join(stateDirectory, "memory.sqlite3") }

    init(_ path: String) throws(AIError) {
        let name = SQLiteError.FileName(
            "the memory of folders", code: .ioError, advice: "delete it; folders are read again")
        file = try StateFile(
            path, .init(name: name, application: 0x6875_626D, isPrecious: false, versions: [Self.tables]))
    }

    // Ids of excerpts are never used again: another process may still hold those of what is gone.
    private static let tables = """
        CREATE TABLE documents (
            id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, unit TEXT NOT NULL, digest TEXT NOT NULL,
            device INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
            changed INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE excerpts (
            id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
            first INTEGER NOT NULL, last INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX excerpts_of_document ON excerpts (document);
        CREATE VIRTUAL TABLE words USING fts5 (path, text, tokenize = 'unicode61 remove_diacritics 2');
        CREATE TABLE embedders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE vectors (
            excerpt INTEGER NOT NULL REFERENCES excerpts ON DELETE CASCADE,
            embedder INTEGER NOT NULL REFERENCES embedders ON DELETE CASCADE, vector BLOB NOT NULL,
            UNIQUE (excerpt, embedder)
        ) STRICT;
        CREATE INDEX vectors_of_embedder ON vectors (embedder);
        """

    // MARK: Documents

    /// What is known of a folder's files, by path.
    func documents(below root: String) throws(AIError) -> [String: Document] {
        try file.read { connection in
            let scope = Scope([root])
            let rows = try connection.query(
                """
                SELECT id, path, digest, device, inode, size, modified, changed, unit FROM documents
                WHERE \(scope.condition)
                """, list: scope.values
            ) { row in
                Document(
                    id: row.int(0), path: row.text(1),
                    fingerprint: FileFingerprint(
                        device: UInt64(bitPattern: row.int(3)), inode: UInt64(bitPattern: row.int(4)),
                        size: row.int(5), modified: row.int(6), changed: row.int(7)), digest: row.text(2),
                    isDocument: row.text(8) != Self.none)
            }
            return Dictionary(rows.map { ($0.path, $0) }) { $1 }
        }
    }

    /// Puts a document's stretches in the place of what was there.
    func replace(
        _ path: String, _ fingerprint: FileFingerprint, digest: String, unit: String, cuts: [Cut]
    ) throws(AIError) {
        try file.write { connection in
            try Self.forget(path, connection)
            try connection.run(
                """
                INSERT INTO documents (path, unit, digest, device, inode, size, modified, changed)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, path, unit, digest, Int64(bitPattern: fingerprint.device),
                Int64(bitPattern: fingerprint.inode), fingerprint.size, fingerprint.modified, fingerprint.changed)
            let document = connection.lastInsertedRow
            for cut in cuts {
                try connection.run(
                    "INSERT INTO excerpts (document, first, last) VALUES (?, ?, ?)", document, cut.first, cut.last)
                try connection.run(
                    "INSERT INTO words (rowid, path, text) VALUES (?, ?, ?)", connection.lastInsertedRow, path,
                    cut.text)
            }
        }
    }

    /// Notes that a file that was touched still holds the same.
    func confirm(_ document: Document, _ fingerprint: FileFingerprint) throws(AIError) {
        try file.write { connection in
            try connection.run(
                "UPDATE documents SET device = ?, inode = ?, size = ?, modified = ?, changed = ? WHERE id = ?",
                Int64(bitPattern: fingerprint.device), Int64(bitPattern: fingerprint.inode), fingerprint.size,
                fingerprint.modified, fingerprint.changed, document.id)
        }
    }

    /// Forgets documents.
    func forget(_ paths: [String]) throws(AIError) {
        guard !paths.isEmpty else { return }
        try file.write { connection in for path in paths { try Self.forget(path, connection) } }
    }

    private static func forget(_ path: String, _ connection: Connection) throws {
        try connection.run(
            """
            DELETE FROM words WHERE rowid IN
                (SELECT excerpts.id FROM excerpts JOIN documents ON documents.id = document WHERE path = ?)
            """, path)
        try connection.run("DELETE FROM documents WHERE path = ?", path)
    }

    // MARK: Vectors

    /// The number of an embedder.
    func embedder(_ name: String) throws(AIError) -> Int64 {
        try file.write { connection in
            try connection.run("INSERT OR IGNORE INTO embedders (name) VALUES (?)", name)
            return try connection.first("SELECT id FROM embedders WHERE name = ?", name, map: { $0.int(0) }) ?? 0
        }
    }

    /// Some stretches below the folders that have no vector of an embedder yet.
    func unembedded(_ embedder: Int64, below roots: [String], limit: Int) throws(AIError) -> [(Int64, String)] {
        try file.read { connection in
            let scope = Scope(roots)
            return try connection.query(
                """
                SELECT excerpts.id, words.text FROM documents JOIN excerpts ON document = documents.id
                JOIN words ON words.rowid = excerpts.id
                WHERE \(scope.condition)
                    AND NOT EXISTS (SELECT 1 FROM vectors WHERE excerpt = excerpts.id AND embedder = ?)
                ORDER BY excerpts.id LIMIT ?
                """, list: scope.values + [embedder, limit]
            ) { ($0.int(0), $0.text(1)) }
        }
    }

    /// How many stretches there are below the folders, and how many of them have a vector of an embedder.
    func counts(_ embedder: Int64?, below roots: [String]) throws(AIError) -> (excerpts: Int, embedded: Int) {
        try file.read { connection in
            let scope = Scope(roots)
            return try connection.query(
                """
                SELECT count(*), count(vectors.excerpt) FROM documents JOIN excerpts ON document = documents.id
                LEFT JOIN vectors ON vectors.excerpt = excerpts.id AND vectors.embedder = ?
                WHERE \(scope.condition)
                """, list: [embedder ?? 0] + scope.values
            ) { (excerpts: Int($0.int(0)), embedded: Int($0.int(1))) }.first ?? (0, 0)
        }
    }

    /// Keeps vectors; a stretch that is gone meanwhile is left out.
    func keep(_ vectors: [(excerpt: Int64, bytes: [UInt8])], of embedder: Int64) throws(AIError) {
        try file.write { connection in
            for (excerpt, bytes) in vectors {
                try connection.run(
                    """
                    INSERT OR REPLACE INTO vectors (excerpt, embedder, vector)
                    SELECT id, ?, ? FROM excerpts WHERE id = ?
                    """, embedder, bytes, excerpt)
            }
        }
    }

    /// All vectors of an embedder below the folders.
    func vectors(
        of embedder: Int64, below roots: [String], _ body: (Int64, UnsafeRawBufferPointer) throws -> Void
    ) throws(AIError) {
        try file.read { connection in
            let scope = Scope(roots)
            try connection.each(
                """
                SELECT excerpt, vector FROM documents JOIN excerpts ON document = documents.id
                JOIN vectors ON vectors.excerpt = excerpts.id AND embedder = ?
                WHERE \(scope.condition) ORDER BY excerpts.id
                """, list: [embedder] + scope.values
            ) { row in
                try row.withBlob(1) { try body(row.int(0), $0) }
                return true
            }
        }
    }

    // MARK: Searching

    /// The stretches with some of a text's words, the best first.
    func search(words text: String, below roots: [String], limit: Int) throws(AIError) -> [Int64] {
        try file.read { connection in
            // A long message is about what it says first.
            var seen = Set<String>()
            let words = try connection.words(text).filter { seen.insert($0).inserted }.prefix(64)
            guard !words.isEmpty else { return [] }
            let scope = Scope(roots)
            return try connection.query(
                """
                SELECT words.rowid FROM words JOIN excerpts ON excerpts.id = words.rowid
                JOIN documents ON documents.id = document
                WHERE words MATCH ? AND \(scope.condition) ORDER BY bm25(words, 2.0, 1.0) LIMIT ?
                """, list: [words.map { "\"\($0)\"" }.joined(separator: " OR ")] + scope.values + [limit]
            ) { $0.int(0) }
        }
    }

    /// A stretch below the folders; nil if it is gone.
    func excerpt(_ id: Int64, below roots: [String]) throws(AIError) -> Found? {
        try file.read { connection in
            let scope = Scope(roots)
            return try connection.query(
                """
                SELECT documents.path, unit, first, last, words.text FROM excerpts
                JOIN documents ON documents.id = document JOIN words ON words.rowid = excerpts.id
                WHERE \(scope.condition) AND excerpts.id = ?
                """, list: scope.values + [id]
            ) { row in
                Found(
                    path: row.text(0), unit: row.text(1),
                    cut: Cut(text: row.text(4), first: Int(row.int(2)), last: Int(row.int(3))))
            }.first
        }
    }

    /// What is below some folders, or is one of them.
    private struct Scope {
        var condition: String
        var values: [any SQLBindable]

        init(_ roots: [String]) {
            // "0" comes behind "/".
            condition =
                "("
                + roots.map { _ in "documents.path = ? OR (documents.path >= ? AND documents.path < ?)" }.joined(
                    separator: " OR ")
                + ")"
            values = roots.flatMap { root -> [any SQLBindable] in
                let end = Path.withoutEnd(root) == "/" ? "" : Path.withoutEnd(root)
                return [root, end + "/", end + "0"]
            }
        }
    }
}
