public import HubCore

extension Catalog {
    /// Alternatives to a text without matches, the best first; each finds something.
    ///
    /// Unknown words are replaced by the nearest words of the index, with one typo from three letters and two from six,
    /// popular ones first. If every word is known but no model has them all, one word at a time is replaced. Empty if
    /// the text finds something, has too many typos, or too many words.
    public func suggestions(for text: String, kind: RepositoryKind, limit: Int) throws(AIError) -> [String] {
        try read { connection in
            let index = NearWords(connection: connection, kind: kind)
            guard limit > 0, try !index.finds(text) else { return [] }
            let words = Self.wordRanges(text)
            guard words.count <= Self.mostWords else { return [] }
            let missing = try words.filter { try !index.finds(String(text[$0])) }
            var out: [String] = []
            func offer(_ candidate: String) throws {
                if out.count < limit, !out.contains(candidate), try index.finds(candidate) { out.append(candidate) }
            }
            if missing.count > 1 {
                // Several unknown words: the best of each.
                let nearest = try missing.map { try index.near(String(text[$0])).first }
                guard !nearest.contains(nil) else { return [] }
                try offer(Self.replacing(zip(missing, nearest.compactMap { $0 }), in: text))
            }
            for range in missing.isEmpty ? words : missing where missing.count < 2 && out.count < limit {
                for near in try index.near(String(text[range])) where out.count < limit {
                    try offer(Self.replacing(zip([range], [near]), in: text))
                }
            }
            return out
        }
    }

    /// Each unknown word costs a scan of the whole vocabulary.
    private static let mostWords = 8

    private static func wordRanges(_ text: String) -> [Range<String.Index>] {
        text.split { !($0.isLetter || $0.isNumber) }.map { $0.startIndex..<$0.endIndex }
    }

    private static func replacing(
        _ changes: Zip2Sequence<[Range<String.Index>], [String]>, in text: String
    ) -> String {
        var out = ""
        var end = text.startIndex
        for (range, word) in changes {
            out += text[end..<range.lowerBound] + word
            end = range.upperBound
        }
        return out + text[end...]
    }
}

/// Finds index words near a misspelled one.
private struct NearWords {
    let connection: Connection
    let kind: RepositoryKind
    /// Maximum number of nearest words to try.
    private static let most = 8
    /// Maximum number of candidates ranked by popularity.
    private static let candidates = 64

    /// Whether a model has all words of a text.
    func finds(_ text: String) throws -> Bool {
        var expression = SearchExpression(kind)
        try expression.require(beginnings: text, connection)
        guard !expression.isHopeless else { return false }
        return try best(expression.complete(connection).text) != nil
    }

    /// The popularity rank of the first matching model; nil if none matches.
    private func best(_ expression: String) throws -> Int64? {
        try connection.first(
            """
            SELECT search.rowid FROM search CROSS JOIN models ON model = \(Popularity.model)
            WHERE search MATCH ? AND vanished_at IS NULL ORDER BY search.rowid LIMIT 1
            """, expression, map: { $0.int(0) })
    }

    /// The nearest other words: the fewest typos first, then those of the most popular models.
    func near(_ word: String) throws -> [String] {
        let typed = Array(word.lowercased().unicodeScalars)
        let slips = typed.count < 3 ? 0 : typed.count < 6 ? 1 : 2
        guard slips > 0 else { return [] }
        let words = try connection.query(
            "SELECT word FROM words WHERE length(word) BETWEEN ? AND ?", typed.count - slips, typed.count + slips,
            map: { $0.text(0) })
        let near = words.map { (word: $0, slips: EditDistance.between(typed, Array($0.unicodeScalars))) }
            .filter { (1...slips).contains($0.slips) }
            .sorted { ($0.slips, $0.word) < ($1.slips, $1.word) }
        // A word may be left over from a removed model.
        let placed = try near.prefix(Self.candidates).compactMap { word, slips in
            try best("\"\(SearchIndex.mark(kind))\" AND \"\(word)\"").map { (word: word, slips: slips, place: $0) }
        }
        return placed.sorted { ($0.slips, $0.place) < ($1.slips, $1.place) }.prefix(Self.most).map(\.word)
    }
}
