import HubCore

/// Passes the rows of models that have words with certain prefixes, single letters and digits as words of their own. Names
/// that many models share are looked at once.
final class PrefixFilter {
    private let prefixes: [String]
    private let connection: CatalogConnection
    private let tokenizer: IndexTokenizer
    /// Which of the prefixes a name has, a bit for each.
    private var known: [Int64: UInt64] = [:]

    /// The columns that hold words.
    private static let author = ModelRow.place(of: "author")
    private static let names = ["task", "library", "license"].map(ModelRow.place)
    private static let tags = ModelRow.place(of: "tags")

    /// - Parameter prefixes: folded as the index folds words; nil comes back where they are more than 64, for the index must
    ///   look then.
    init?(_ prefixes: [String], _ connection: CatalogConnection) throws {
        guard prefixes.count <= 64 else { return nil }
        self.prefixes = prefixes
        self.connection = connection
        tokenizer = try connection.tokenizer()
    }

    /// Whether a row of ``ModelRow/columns`` has all prefixes.
    func passes(_ row: Row) throws -> Bool {
        let all = prefixes.count == 64 ? UInt64.max : 1 << UInt64(prefixes.count) - 1
        var found = bits(row.text(ModelRow.id))
        if found != all, let author = row.optionalText(Self.author), !author.isEmpty { found |= bits(author) }
        for column in Self.names where found != all {
            if let number = row.optionalInt(column) { found |= try bits(number) }
        }
        if found != all, let tags = row.optionalBlob(Self.tags) {
            try SharedNames.forEach(tags) { number in
                found |= try bits(number)
                return found != all
            }
        }
        return found == all
    }

    private func bits(_ number: Int64) throws -> UInt64 {
        if let bits = known[number] { return bits }
        let bits = bits(try connection.names.name(of: number, connection))
        known[number] = bits
        return bits
    }

    private func bits(_ text: String) -> UInt64 {
        var found: UInt64 = 0
        for word in tokenizer.words(text) {
            for (place, prefix) in prefixes.enumerated() where word.utf8.starts(with: prefix.utf8) {
                if SearchExpression.isWhole(prefix), word.utf8.count > 1 { continue }
                found |= 1 << UInt64(place)
            }
        }
        return found
    }
}
