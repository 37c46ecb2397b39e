import HubCore

/// The full-text index over models. Its rowid is the model's rank, so that `ORDER BY rowid LIMIT n` streams the most
/// popular matches instead of ranking every match.
enum SearchIndex {
    /// What is indexed of one model.
    struct Document: Hashable {
        var id: String
        var author: String
        var tags: String
        var task: String

        init(record: ModelRecord) {
            id = record.repository.id.name
            author = record.author ?? record.repository.id.owner ?? ""
            tags = (record.tags ?? []).joined(separator: " ")
            task = record.task ?? ""
        }
    }

    static func insert(_ document: Document, rank: Int64, _ connection: Connection) throws {
        try connection.run(
            "INSERT INTO search (rowid, id, author, tags, task) VALUES (?, ?, ?, ?, ?)",
            rank, document.id, document.author, document.tags, document.task)
    }

    /// Takes a document out. The index keeps no text, so it must be told exactly what was put in.
    static func delete(_ document: Document, rank: Int64, _ connection: Connection) throws {
        try connection.run(
            "INSERT INTO search (search, rowid, id, author, tags, task) VALUES ('delete', ?, ?, ?, ?, ?)",
            rank, document.id, document.author, document.tags, document.task)
    }

    /// The query for words in any order, the last one as a prefix, as one types; nil where there is no word.
    ///
    /// Each word goes in on its own: the index keeps no positions, so that a name with hyphens is no phrase.
    static func match(_ text: String) -> String? {
        let words = text.split { !($0.isLetter || $0.isNumber) }.map { $0.replacingQuotes }
        guard !words.isEmpty else { return nil }
        return words.map { "\"\($0)\"*" }.joined(separator: " AND ")
    }
}

extension Substring {
    fileprivate var replacingQuotes: String { String(self.filter { $0 != "\"" }) }
}
