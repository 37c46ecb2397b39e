import HubCore

/// What the search index is asked for: words that must all occur, each as the beginning of a word or as a whole one.
///
/// Each word goes in on its own: the index keeps no positions, so that a name with hyphens is no phrase.
struct SearchExpression {
    /// In FTS5's own language. https://www.sqlite.org/fts5.html#full_text_query_syntax
    private(set) var text: String
    /// Whether some word occurs nowhere, so that nothing can match.
    private(set) var isHopeless = false
    /// Whether it asks for more than the kind.
    private(set) var isNarrowed = false

    /// As many words of the index may stand in for beginnings of words.
    private static let mostTerms = 400
    private var terms = 0

    init(_ kind: RepositoryKind) { text = "\"\(SearchIndex.mark(kind))\"" }

    /// Every whole word of a text must occur.
    mutating func require(words text: String?, _ connection: Connection) throws {
        guard let text else { return }
        for word in try Self.words(text, connection) { add("\"\(word)\"") }
    }

    /// Every word of a text must occur as the beginning of a word, as one types; a single letter or digit as a whole one,
    /// for that is what "llama 3" means.
    ///
    /// The beginnings are looked up in the index's own list of words, which takes some microseconds each: FTS5 alone would
    /// gather all rows of all words that begin so before it gives the first.
    mutating func require(beginnings text: String, _ connection: Connection) throws {
        for word in Set(try Self.words(text, connection)).sorted() {
            if word.utf8.count == 1 {
                add("\"\(word)\"")
                continue
            }
            guard let words = try Vocabulary(connection).words(from: word, limit: Self.mostTerms - terms) else {
                add("\"\(word)\"*")
                continue
            }
            terms += words.count
            if words.isEmpty { isHopeless = true }
            add("(" + words.map { "\"\($0)\"" }.joined(separator: " OR ") + ")")
        }
    }

    private mutating func add(_ condition: String) {
        text += " AND " + condition
        isNarrowed = true
    }

    private static func words(_ text: String, _ connection: Connection) throws -> [String] {
        // A mark of our own is nobody's word.
        try connection.tokenizer().words(text).filter { $0.unicodeScalars.first != "\u{E000}" }
    }
}

/// The words of the search index, in their order as bytes.
struct Vocabulary {
    private let connection: Connection

    init(_ connection: Connection) throws {
        self.connection = connection
        // https://www.sqlite.org/fts5.html#the_fts5vocab_virtual_table_module
        try connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, search, instance)")
    }

    /// The first word that is not before a text; nil after the last. A list of all would read every row of every word;
    /// this goes straight there, in a hundredth of a millisecond or two.
    func first(from text: String) throws -> String? {
        try connection.once(
            "SELECT term FROM temp.vocabulary WHERE term >= ? LIMIT 1", bind: { $0.add(text) }, row: { $0.text(0) })
    }

    /// All words that begin with a text; nil where they are more than `limit`.
    func words(from beginning: String, limit: Int) throws -> [String]? {
        var words: [String] = []
        var next = beginning
        while let word = try first(from: next), word.utf8.starts(with: beginning.utf8) {
            guard words.count < limit else { return nil }
            words.append(word)
            next = word + "\u{1}"
        }
        return words
    }
}
