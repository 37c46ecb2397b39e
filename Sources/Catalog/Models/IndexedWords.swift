import HubCore

/// The words of the search index, in a table of their own: FTS5 can list its words only by reading every row of each.
/// A word stays when the last model with it goes.
final class IndexedWords {
    /// Words that are known to be in the table.
    private var known = TextNumbers()
    private static let most = 1_000_000

    /// Clears the memory cache: a failed transaction may have added to it.
    func forget() { known = TextNumbers() }

    /// Adds the words of a text.
    func add(_ text: String, _ connection: Connection) throws {
        var new: [String] = []
        try connection.tokenizer().forEach(text) { word in
            if known.insert(word, 0) { new.append(String(decoding: word, as: UTF8.self)) }
        }
        if known.count > Self.most { forget() }
        for word in new {
            try connection.once(
                "INSERT INTO words (word) VALUES (?) ON CONFLICT DO NOTHING", bind: { $0.add(word) })
        }
    }

    /// All words with a prefix; nil if there are more than `limit`.
    static func words(from beginning: String, limit: Int, _ connection: Connection) throws -> [String]? {
        // Sorts after every character; texts are in byte order.
        let words = try connection.query(
            "SELECT word FROM words WHERE word BETWEEN ? AND ? LIMIT ?", beginning, beginning + "\u{10FFFF}",
            limit + 1,
            map: { $0.text(0) })
        return words.count > limit ? nil : words
    }
}
