import HubCore

/// A search index query: words that must all occur, as prefixes or whole words.
///
/// Each word is a separate term: the index has no positions, so a hyphenated name is not a phrase.
struct SearchExpression {
    /// In FTS5's query syntax. https://www.sqlite.org/fts5.html#full_text_query_syntax
    private(set) var text: String
    /// The words of the text, folded as in the index.
    private(set) var words: [String] = []
    /// Whether a word must match as a whole, not as a prefix.
    static func isWhole(_ word: String) -> Bool { word.utf8.count == 1 }
    /// Prefixes of too many words for ``text``: rows must be tested for them.
    private(set) var broad: [String] = []
    /// Whether some word occurs nowhere, so that nothing can match.
    private(set) var isHopeless = false
    /// Whether it has conditions besides the kind.
    private(set) var isNarrowed = false

    /// Maximum words for one prefix, and in total. Each costs FTS5 a few microseconds.
    private static let (few, most) = (1000, 5000)
    /// The number of words left.
    private var room = Self.most

    init(_ kind: RepositoryKind) { text = "\"\(SearchIndex.mark(kind))\"" }

    /// Requires an author.
    mutating func require(author: String?, _ connection: Connection) throws {
        guard let author else { return }
        // Not split here: the tokenizer treats it as it did in the index.
        for word in try connection.tokenizer().words(SearchIndex.mark(author: author)) { add("\"\(word)\"") }
    }

    /// Requires every whole word of a text.
    mutating func require(words text: String?, _ connection: Connection) throws {
        guard let text else { return }
        for word in try Self.words(text, connection) { add("\"\(word)\"") }
    }

    /// Requires all words of one of the texts.
    mutating func require(anyOf texts: [String], _ connection: Connection) throws {
        let choices = try texts.map { text in
            "(" + (try Self.words(text, connection)).map { "\"\($0)\"" }.joined(separator: " AND ") + ")"
        }
        add("(" + choices.joined(separator: " OR ") + ")")
    }

    /// Requires every word of a text as a prefix; a single letter or digit as a whole word, as meant by "llama 3".
    ///
    /// Prefixes are looked up in the table of words: FTS5 would collect all rows of all matching words before returning
    /// the first.
    mutating func require(beginnings text: String, _ connection: Connection) throws {
        words = Set(try Self.words(text, connection)).sorted()
        for word in words {
            if Self.isWhole(word) {
                add("\"\(word)\"")
            } else if let words = try IndexedWords.words(from: word, limit: min(Self.few, room), connection) {
                if words.isEmpty { isHopeless = true }
                room -= words.count
                add(words)
            } else {
                broad.append(word)
                isNarrowed = true
            }
        }
    }

    /// The same without broad prefixes left out.
    func complete(_ connection: Connection) throws -> SearchExpression {
        var out = self
        out.broad = []
        for word in broad {
            if let words = try IndexedWords.words(from: word, limit: out.room, connection) {
                out.room -= words.count
                out.add(words)
            } else {
                out.add("\"\(word)\"*")
            }
        }
        return out
    }

    /// Requires one of these words.
    private mutating func add(_ words: [String]) {
        add("(" + words.map { "\"\($0)\"" }.joined(separator: " OR ") + ")")
    }

    private mutating func add(_ condition: String) {
        text += " AND " + condition
        isNarrowed = true
    }

    private static func words(_ text: String, _ connection: Connection) throws -> [String] {
        // Leaves out our own marks.
        try connection.tokenizer().words(text).filter {
            $0.unicodeScalars.first.map { !("\u{E000}"..."\u{E001}").contains($0) } ?? false
        }
    }
}
