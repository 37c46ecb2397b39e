import HubCore

/// The full-text index over models. Its row numbers follow the models' popularity (see ``Popularity``), so that
/// `ORDER BY rowid LIMIT n` streams the most popular matches instead of ranking every match.
///
/// The index keeps no text of its own, so a row is taken out by saying its old text again, byte for byte.
/// https://www.sqlite.org/fts5.html#contentless_tables
enum SearchIndex {
    /// A word that every repository of a kind has and nobody searches for.
    static func mark(_ kind: RepositoryKind) -> String { "\u{E000}" + kind.rawValue }

    /// The same for every repository of an author; without regard to case, as the index takes words.
    static func mark(author: String) -> String {
        "\u{E001}"
            + String(
                String.UnicodeScalarView(author.unicodeScalars.map { $0.isASCII && !isWord($0) ? "\u{E002}" : $0 }))
    }

    /// What the index would not take for a boundary between words.
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
    }

    /// What is indexed of a model: id, author, tags, task, library and licence, as bytes.
    static func document(_ record: ModelRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        func add(_ text: String?) {
            guard let text else { return }
            bytes.append(contentsOf: text.utf8)
            bytes.append(UInt8(ascii: " "))
        }
        add(mark(record.repository.kind))
        if let author = record.author ?? record.repository.id.owner { add(mark(author: author)) }
        add(record.repository.id.name)
        if !record.isByOwner { add(record.author) }
        for tag in record.tags ?? [] { add(tag) }
        add(record.task)
        add(record.library)
        add(record.license)
        return bytes
    }

    /// Rows that go and come, put off to the end of a transaction and then done in the order of their numbers. FTS5 writes
    /// what it has gathered to the disk whenever a number is below the last one; in order it is three times as fast.
    struct Changes {
        private var list: [(row: Int64, goes: Bool, document: [UInt8])] = []

        mutating func insert(_ document: [UInt8], row: Int64) { list.append((row, false, document)) }
        mutating func delete(_ document: [UInt8], row: Int64) { list.append((row, true, document)) }

        /// Writes them. Changes of one row keep their order.
        mutating func apply(_ connection: Connection) throws {
            let deletion = try connection.statement(
                "INSERT INTO search (search, rowid, words) VALUES ('delete', ?, ?)")
            let insertion = try connection.statement("INSERT INTO search (rowid, words) VALUES (?, ?)")
            for index in list.indices.sorted(by: { (list[$0].row, $0) < (list[$1].row, $1) }) {
                let change = list[index]
                try (change.goes ? deletion : insertion).once { values in
                    values.add(change.row)
                    change.document.withUnsafeBufferPointer { values.add(text: $0) }
                }
            }
            list = []
        }
    }
}
