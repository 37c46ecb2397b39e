import HubCore

/// The full-text index over models. Its rowid is the model's rank, so that `ORDER BY rowid LIMIT n` streams the most
/// popular matches instead of ranking every match.
enum SearchIndex {
    /// What is indexed of one model.
    struct Document: Equatable {
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

        /// Byte for byte: the index takes apart what Swift calls equal, and forgets only what it is told exactly.
        static func == (left: Document, right: Document) -> Bool {
            [left.id, left.author, left.tags, left.task].map(ExactText.init)
                == [right.id, right.author, right.tags, right.task].map(ExactText.init)
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

    /// The query for words in any order, each as a prefix, as one types; nil where there is no word.
    ///
    /// Each word goes in on its own: the index keeps no positions, so that a name with hyphens is no phrase.
    static func match(_ text: String) -> String? {
        let words = words(text)
        guard !words.isEmpty else { return nil }
        return words.map { "\"\($0)\"*" }.joined(separator: " AND ")
    }

    /// The words as the tokenizer `unicode61` finds them. A word of ours that were two of its would be a phrase, which an
    /// index without positions refuses with an error.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isInWord(scalar) || (!word.isEmpty && isDiacritic(scalar)) {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        return word.isEmpty ? words : words + [String(word)]
    }

    /// "By default all unicode characters of categories "L*", "N*" and "Co" are considered to be tokens", as Unicode 6.1
    /// has them. https://www.sqlite.org/fts5.html#unicode61_tokenizer
    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .privateUse: return true
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            guard let age = scalar.properties.age else { return false }
            return (age.major, age.minor) <= (6, 1)
        default: return false
        }
    }

    /// The marks that do not end a word: `sqlite3Fts5UnicodeIsdiacritic` in SQLite's fts5_unicode2.c.
    private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
        guard (768...817).contains(scalar.value) else { return false }
        let masks: (UInt32, UInt32) = (0x0802_9FDF, 0x0003_61F8)
        let bit = scalar.value - 768
        return (bit < 32 ? masks.0 >> bit : masks.1 >> (bit - 32)) & 1 == 1
    }
}
