import HubCore

/// The full-text index over models. Its row numbers follow the models' popularity (see ``Popularity``), so that
/// `ORDER BY rowid LIMIT n` streams the most popular matches instead of ranking every match.
///
/// The index keeps no text of its own, so removing a row requires its exact old text.
/// https://www.sqlite.org/fts5.html#contentless_tables
enum SearchIndex {
    /// A marker word of every repository of a kind.
    static func mark(_ kind: RepositoryKind) -> String { "\u{E000}" + kind.rawValue }

    /// A marker word of every repository of an author; ignores case, as the index does.
    static func mark(author: String) -> String {
        var bytes: [UInt8] = []
        addMark(author: author, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// U+E001 and the author, with U+E002 for word boundaries.
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

    /// The indexed text of a model: id, author, tags, task, library and licence, as bytes.
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
        // They are usually tags too, and a word counts once per row: leaving them out saves a sixth of the work.
        if let task = record.task, !record.hasTag(task.utf8) { add(task) }
        if let library = record.library, !record.hasTag(library.utf8) { add(library) }
        if let license = record.license, !record.hasTag("license:".utf8, license.utf8) { add(license) }
        return bytes
    }

    /// Removed and added rows, applied at the end of a transaction in the order of their numbers. FTS5 flushes whenever
    /// a number is below the last one; in order it is three times as fast.
    struct Changes {
        private var list: [(row: Int64, goes: Bool, document: [UInt8])] = []

        mutating func insert(_ document: [UInt8], row: Int64) { list.append((row, false, document)) }
        mutating func delete(_ document: [UInt8], row: Int64) { list.append((row, true, document)) }

        /// Applies the changes. Changes of one row keep their order.
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

extension ModelRecord {
    /// Whether one of the tags is this text, or these two one after the other, to the byte.
    fileprivate func hasTag(_ text: String.UTF8View, _ end: String.UTF8View = "".utf8) -> Bool {
        tags?.contains { tag in
            let tag = tag.utf8
            return tag.count == text.count + end.count && tag.starts(with: text)
                && tag.dropFirst(text.count).elementsEqual(end)
        } ?? false
    }
}
