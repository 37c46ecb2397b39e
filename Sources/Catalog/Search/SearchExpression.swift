import HubCore

/// What the search index is asked for: words that must all occur, each as the beginning of a word or as a whole one.
///
/// Each word goes in on its own: the index keeps no positions, so that a name with hyphens is no phrase.
struct SearchExpression {
    /// In FTS5's own language. https://www.sqlite.org/fts5.html#full_text_query_syntax
    private(set) var text: String
    /// The words of the text, folded as the index folds them.
    private(set) var words: [String] = []
    /// Whether a word is meant as a whole, not as the beginning of one.
    static func isWhole(_ word: String) -> Bool { word.utf8.count == 1 }
    /// Beginnings of so many words of the index that ``text`` leaves them out: a row has to be looked at.
    private(set) var broad: [String] = []
    /// Whether some word occurs nowhere, so that nothing can match.
    private(set) var isHopeless = false
    /// Whether it asks for more than the kind.
    private(set) var isNarrowed = false

    /// As many words of the index may stand in for the beginning of one, and all told. Each costs FTS5 some microseconds.
    private static let (few, most) = (1000, 5000)
    /// How many more may.
    private var room = Self.most

    init(_ kind: RepositoryKind) { text = "\"\(SearchIndex.mark(kind))\"" }

    /// It must be somebody's.
    mutating func require(author: String?, _ connection: Connection) throws {
        guard let author else { return }
        // Not taken apart here: whatever the tokenizer makes of it, it made of the index's too.
        for word in try connection.tokenizer().words(SearchIndex.mark(author: author)) { add("\"\(word)\"") }
    }

    /// Every whole word of a text must occur.
    mutating func require(words text: String?, _ connection: Connection) throws {
        guard let text else { return }
        for word in try Self.words(text, connection) { add("\"\(word)\"") }
    }

    /// All words of one of the texts must occur.
    mutating func require(anyOf texts: [String], _ connection: Connection) throws {
        let choices = try texts.map { text in
            "(" + (try Self.words(text, connection)).map { "\"\($0)\"" }.joined(separator: " AND ") + ")"
        }
        add("(" + choices.joined(separator: " OR ") + ")")
    }

    /// Every word of a text must occur as the beginning of a word, as one types; a single letter or digit as a whole one,
    /// for that is what "llama 3" means.
    ///
    /// The beginnings are looked up in the table of words: FTS5 alone would gather all rows of all words that begin so
    /// before it gives the first.
    mutating func require(beginnings text: String, _ connection: Connection) throws {
        words = Set(try Self.words(text, connection)).sorted()
        for word in words {
            if Self.isWhole(word) {
                add("\"\(word)\"")
            } else if let words = try Vocabulary.words(from: word, limit: min(Self.few, room), connection) {
                if words.isEmpty { isHopeless = true }
                room -= words.count
                add(words)
            } else {
                broad.append(word)
                isNarrowed = true
            }
        }
    }

    /// The same with nothing left out.
    func complete(_ connection: Connection) throws -> SearchExpression {
        var out = self
        out.broad = []
        for word in broad {
            if let words = try Vocabulary.words(from: word, limit: out.room, connection) {
                out.room -= words.count
                out.add(words)
            } else {
                out.add("\"\(word)\"*")
            }
        }
        return out
    }

    /// One of these words must occur.
    private mutating func add(_ words: [String]) {
        add("(" + words.map { "\"\($0)\"" }.joined(separator: " OR ") + ")")
    }

    private mutating func add(_ condition: String) {
        text += " AND " + condition
        isNarrowed = true
    }

    private static func words(_ text: String, _ connection: Connection) throws -> [String] {
        // A mark of our own is nobody's word.
        try connection.tokenizer().words(text).filter {
            $0.unicodeScalars.first.map { !("\u{E000}"..."\u{E001}").contains($0) } ?? false
        }
    }
}
