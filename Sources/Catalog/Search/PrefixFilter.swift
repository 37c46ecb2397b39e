import HubCore

/// Tests whether a model's row has words with given prefixes; single letters and digits match whole words. Shared names
/// are tested once.
final class BeginningTest {
    private let beginnings: [String]
    private let connection: Connection
    private let tokenizer: Tokenizer
    /// The prefixes that each name has, as bits.
    private var known: [Int64: UInt64] = [:]

    /// - Parameter beginnings: folded as in the index. With more than 64 returns nil: the index must be used.
    init?(_ beginnings: [String], _ connection: Connection) throws {
        guard beginnings.count <= 64 else { return nil }
        self.beginnings = beginnings
        self.connection = connection
        tokenizer = try connection.tokenizer()
    }

    /// Whether a row of ``ModelRow/columns`` has all prefixes.
    func passes(_ row: Row) throws -> Bool {
        let all = beginnings.count == 64 ? UInt64.max : 1 << UInt64(beginnings.count) - 1
        var found = bits(row.text(2))
        if found != all, let author = row.optionalText(3), !author.isEmpty { found |= bits(author) }
        for column in 4...6 where found != all {
            if let number = row.optionalInt(column) { found |= try bits(number) }
        }
        if found != all, let tags = row.optionalBlob(7) {
            try Names.forEach(tags) { number in
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
            for (place, beginning) in beginnings.enumerated() where word.utf8.starts(with: beginning.utf8) {
                if SearchExpression.isWhole(beginning), word.utf8.count > 1 { continue }
                found |= 1 << UInt64(place)
            }
        }
        return found
    }
}
