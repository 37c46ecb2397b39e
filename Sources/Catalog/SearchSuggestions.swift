public import HubCore

extension Catalog {
    /// Texts near to one that no model matches, each of which finds something, the best first.
    ///
    /// Words that nothing begins with are replaced by the nearest words of the index, one slip of the keyboard in words of
    /// three letters and two from six on, the most frequent first. Where every word is known but no model has them all,
    /// one word at a time is. None where the text finds something, has a slip too many, or more words than a person types.
    public func suggestions(for text: String, kind: RepositoryKind, limit: Int) throws(AIError) -> [String] {
        try read { connection in
            let index = Vocabulary(connection: connection, kind: kind)
            guard limit > 0, try !index.finds(text) else { return [] }
            let words = Self.wordRanges(text)
            guard words.count <= Self.mostWords else { return [] }
            let missing = try words.filter { try !index.finds(String(text[$0])) }
            var out: [String] = []
            func offer(_ candidate: String) throws {
                if out.count < limit, !out.contains(candidate), try index.finds(candidate) { out.append(candidate) }
            }
            if missing.count > 1 {
                // Several slips at once: the best of each.
                let nearest = try missing.map { try index.near(String(text[$0])).first }
                guard !nearest.contains(nil) else { return [] }
                try offer(Self.replacing(zip(missing, nearest.compactMap { $0 }), in: text))
            }
            for range in missing.isEmpty ? words : missing where missing.count < 2 {
                for near in try index.near(String(text[range])) {
                    try offer(Self.replacing(zip([range], [near]), in: text))
                }
            }
            return out
        }
    }

    /// Each word that nothing begins with costs a look at the whole vocabulary.
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

/// The words of the search index.
private struct Vocabulary {
    let connection: Connection
    let kind: RepositoryKind
    /// As many of the nearest words are tried.
    private static let most = 8

    /// Whether a model has all words of a text.
    func finds(_ text: String) throws -> Bool {
        guard let match = SearchIndex.match(text) else { return true }
        return try connection.first(
            """
            SELECT 1 FROM search CROSS JOIN models ON models.rank = search.rowid
            WHERE search MATCH ? AND kind = ? AND vanished_at IS NULL LIMIT 1
            """, match, kind.rawValue, map: { _ in true }) ?? false
    }

    /// The words nearest to one, that one left out: the fewest slips first, then the most frequent.
    func near(_ word: String) throws -> [String] {
        let typed = Array(word.lowercased().unicodeScalars)
        let slips = typed.count < 3 ? 0 : typed.count < 6 ? 1 : 2
        guard slips > 0 else { return [] }
        // https://www.sqlite.org/fts5.html#the_fts5vocab_virtual_table_module
        try connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words USING fts5vocab(main, search, row)")
        let candidates = try connection.query(
            "SELECT term, doc FROM temp.search_words WHERE length(term) BETWEEN ? AND ?", typed.count - slips,
            typed.count + slips, map: { (word: $0.text(0), models: $0.int(1)) })
        return
            candidates
            .map { ($0, EditDistance.between(typed, Array($0.word.unicodeScalars))) }
            .filter { (1...slips).contains($0.1) }
            .sorted { $0.1 != $1.1 ? $0.1 < $1.1 : ($1.0.models, $0.0.word) < ($0.0.models, $1.0.word) }
            .prefix(Self.most).map(\.0.word)
    }
}
