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
        var bytes: [UInt8] = []
        addMark(author: author, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// U+E001 and the author, with U+E002 for what the index would take for a boundary between words.
    private static func addMark(author: String, to bytes: inout [UInt8]) {
        bytes += [0xEE, 0x80, 0x81]
        for byte in author.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), 128...:
                bytes.append(byte)
            default: bytes += [0xEE, 0x80, 0x82]
            }
        }
    }

    /// What is indexed of a model: id, author, tags, task, library and licence, as bytes.
    static func document(_ record: ModelRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        func add(_ text: String?) {
            guard let text else { return }
            bytes.append(contentsOf: text.utf8)
            bytes.append(UInt8(ascii: " "))
        }
        add(mark(record.repository.kind))
        if let author = record.author ?? record.repository.id.owner {
            addMark(author: author, to: &bytes)
            bytes.append(UInt8(ascii: " "))
        }
        add(record.repository.id.name)
        if !record.isByOwner { add(record.author) }
        for tag in record.tags ?? [] { add(tag) }
        // Most are among the tags, and a word counts once for a row: to leave them out is a sixth of the work.
        if let task = record.task, !record.hasTag(task.utf8) { add(task) }
        if let library = record.library, !record.hasTag(library.utf8) { add(library) }
        if let license = record.license, !record.hasTag("license:".utf8, license.utf8) { add(license) }
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
            let order = list.enumerated().map { (row: $1.row, place: $0) }.sorted { $0 < $1 }
            for (_, place) in order {
                let change = list[place]
                try (change.goes ? deletion : insertion).once { values in
                    values.add(change.row)
                    change.document.withUnsafeBufferPointer { values.add(text: $0) }
                }
            }
            list = []
        }
    }
}
