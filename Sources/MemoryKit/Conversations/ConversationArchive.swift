import Catalog
import HubChatTemplates
public import HubCore

/// The conversations that are kept on this machine, in a file beside the catalog. Several processes may use it at once.
///
/// What a call has kept is on stable storage when it returns. All methods block on disk access and are safe to call from
/// any thread.
public final class ConversationArchive: Sendable {
    private let file: StateFile

    /// The file's place in the folder of the catalog.
    public static func path(in stateDirectory: String) -> String {
        Path.join(stateDirectory, "conversations.sqlite3")
    }

    /// Opens the file, and creates it if missing.
    ///
    /// - Throws: ``ErrorCode/ioError`` where it cannot be used, ``ErrorCode/permissionDenied``, ``ErrorCode/diskFull``.
    public init(path: String) throws(AIError) {
        let name = SQLiteError.FileName(
            "the file of conversations", code: .ioError,
            advice: "move it away to begin another; sqlite3 FILE .recover may save what is in it")
        file = try StateFile(
            path, .init(name: name, application: 0x6875_6276, isPrecious: true, versions: [Self.tables]))
    }

    private static let tables = """
        CREATE TABLE conversations (
            id TEXT PRIMARY KEY, created_at REAL NOT NULL, updated_at REAL NOT NULL, version INTEGER NOT NULL,
            model TEXT NOT NULL, provider TEXT NOT NULL, system TEXT, title TEXT NOT NULL
        ) STRICT;
        CREATE INDEX conversations_by_time ON conversations (updated_at);
        CREATE TABLE turns (
            id INTEGER PRIMARY KEY, conversation TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
            number INTEGER NOT NULL, at REAL NOT NULL, message TEXT NOT NULL, details TEXT NOT NULL,
            UNIQUE (conversation, number)
        ) STRICT;
        CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
        """

    // MARK: Keeping

    /// Keeps a conversation as it is now. If another process has kept it since it was read, or removed it, it gets an id of
    /// its own and the other one stays as it is.
    ///
    /// - Returns: whether that was so.
    @discardableResult
    public func keep(_ conversation: inout KeptConversation, at time: Double) throws(AIError) -> Bool {
        var kept = conversation
        let isFork = try file.write { connection in
            kept.updatedAt = time
            let isOwn = try !kept.id.isEmpty && Self.update(kept, connection)
            let isFork = !isOwn && !kept.id.isEmpty
            if !isOwn {
                kept.id = try Self.newID(connection)
                kept.version = 0
                try Self.insert(kept, connection)
            }
            try Self.write(kept, connection)
            kept.version += 1
            return isFork
        }
        conversation = kept
        return isFork
    }

    /// Whether this very state of it was there and is now the next one.
    private static func update(_ kept: KeptConversation, _ connection: Connection) throws -> Bool {
        try connection.run(
            """
            UPDATE conversations SET updated_at = ?, version = version + 1, model = ?, provider = ?, system = ?,
            title = ? WHERE id = ? AND version = ?
            """, kept.updatedAt, kept.model, kept.provider, kept.system, kept.title, kept.id, kept.version)
        return connection.changes == 1
    }

    private static func insert(_ kept: KeptConversation, _ connection: Connection) throws {
        try connection.run(
            """
            INSERT INTO conversations (id, created_at, updated_at, version, model, provider, system, title)
            VALUES (?, ?, ?, 1, ?, ?, ?, ?)
            """, kept.id, kept.createdAt, kept.updatedAt, kept.model, kept.provider, kept.system, kept.title)
    }

    /// Eight digits that are not in use: short enough to be typed.
    private static func newID(_ connection: Connection) throws -> String {
        while true {
            let id = FileSystem.randomHex(4)
            if try connection.first("SELECT 1 FROM conversations WHERE id = ?", id, map: { $0.int(0) }) == nil {
                return id
            }
        }
    }

    /// Writes the turns that are not there as they are now, and removes those that are no longer said.
    private static func write(_ kept: KeptConversation, _ connection: Connection) throws {
        let known = try connection.query(
            "SELECT id, number, message, details FROM turns WHERE conversation = ? ORDER BY number", kept.id
        ) { (id: $0.int(0), number: Int($0.int(1)), message: $0.text(2), details: $0.text(3)) }
        let rows = kept.turns.map { (message: $0.message.json.text(), details: $0.details.text(), turn: $0) }
        for row in known {
            let isSame =
                row.number < rows.count && rows[row.number].message == row.message
                && rows[row.number].details == row.details
            if isSame { continue }
            try connection.run("DELETE FROM words WHERE rowid = ?", row.id)
            try connection.run("DELETE FROM turns WHERE id = ?", row.id)
        }
        let left = Set(
            try connection.query("SELECT number FROM turns WHERE conversation = ?", kept.id) { Int($0.int(0)) })
        for (number, row) in rows.enumerated() where !left.contains(number) {
            try connection.run(
                "INSERT INTO turns (conversation, number, at, message, details) VALUES (?, ?, ?, ?, ?)", kept.id,
                number, row.turn.at, row.message, row.details)
            try connection.run(
                "INSERT INTO words (rowid, text) VALUES (?, ?)", connection.lastInsertedRow,
                row.turn.message.content ?? "")
        }
    }

    /// Removes a conversation; whether it was there.
    @discardableResult
    public func remove(_ id: String) throws(AIError) -> Bool {
        try file.write { connection in
            try connection.run(
                "DELETE FROM words WHERE rowid IN (SELECT id FROM turns WHERE conversation = ?)", id)
            try connection.run("DELETE FROM conversations WHERE id = ?", id)
            let wasThere = connection.changes > 0
            // Without this the words of what was removed stay in the index.
            try connection.run("INSERT INTO words (words) VALUES ('optimize')")
            return wasThere
        }
    }

    // MARK: Reading

    /// All conversations, the latest first.
    public func entries() throws(AIError) -> [ConversationEntry] {
        try file.read { connection in
            try connection.query(
                "\(Self.columns) FROM conversations ORDER BY updated_at DESC, id", map: Self.entry)
        }
    }

    /// The id of the latest conversation; nil if there is none.
    public func latest() throws(AIError) -> String? {
        try file.read { connection in
            try connection.first("SELECT id FROM conversations ORDER BY updated_at DESC, id LIMIT 1") { $0.text(0) }
        }
    }

    /// The ids that begin with some digits.
    public func ids(beginning text: String) throws(AIError) -> [String] {
        try file.read { connection in
            try connection.query(
                "SELECT id FROM conversations WHERE substr(id, 1, ?) = ? ORDER BY id", text.unicodeScalars.count,
                text,
                map: { $0.text(0) })
        }
    }

    /// A conversation; nil if there is none of that id.
    ///
    /// - Throws: ``ErrorCode/ioError`` if it cannot be read.
    public func conversation(_ id: String) throws(AIError) -> KeptConversation? {
        try file.read { connection in
            let found = try connection.first(
                "SELECT model, provider, system, created_at, updated_at, version FROM conversations WHERE id = ?",
                id
            ) { row in
                var kept = KeptConversation(
                    model: row.text(0), provider: row.text(1), system: row.optionalText(2), at: row.double(3))
                (kept.id, kept.updatedAt, kept.version) = (id, row.double(4), row.int(5))
                return kept
            }
            guard var kept = found else { return nil }
            kept.turns = try connection.query(
                "SELECT at, message, details FROM turns WHERE conversation = ? ORDER BY number", id
            ) { try KeptConversation.Turn(at: $0.double(0), message: $0.text(1), details: $0.text(2)) }
            return kept
        }
    }

    /// The conversations in which all words of a text were said in one turn, the best first.
    public func search(_ text: String, limit: Int = 50) throws(AIError) -> [ConversationEntry] {
        try file.read { connection in
            let words = Set(try connection.words(text)).sorted()
            guard !words.isEmpty else { return [] }
            let expression = words.map { "\"\($0)\"*" }.joined(separator: " ")
            // The functions of the index belong to its own query.
            let hits = try connection.query(
                """
                SELECT rowid, snippet(words, 0, '', '', '…', 16) FROM words WHERE words MATCH ?
                ORDER BY rank LIMIT 1000
                """, expression
            ) { (turn: $0.int(0), excerpt: $0.text(1)) }
            var entries: [ConversationEntry] = []
            var seen = Set<String>()
            for hit in hits where entries.count < limit {
                let found = try connection.first(
                    """
                    \(Self.columns) FROM conversations
                    WHERE id = (SELECT conversation FROM turns WHERE turns.id = ?)
                    """, hit.turn, map: Self.entry)
                guard var entry = found, seen.insert(entry.id).inserted else { continue }
                entry.excerpt = hit.excerpt
                entries.append(entry)
            }
            return entries
        }
    }

    private static let columns = """
        SELECT id, created_at, updated_at, model, provider, title,
        (SELECT count(*) FROM turns WHERE conversation = conversations.id)
        """

    private static func entry(_ row: Row) -> ConversationEntry {
        ConversationEntry(
            id: row.text(0), createdAt: row.double(1), updatedAt: row.double(2), model: row.text(3),
            provider: row.text(4), title: row.text(5), turns: Int(row.int(6)))
    }
}
