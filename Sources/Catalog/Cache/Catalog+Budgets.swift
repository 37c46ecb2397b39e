package import HubCore

/// A standing rule for the size of a cache.
package struct BudgetRule: Sendable, Hashable {
    /// Bytes that the cache and its trash may have.
    package var bytes: Int64
    /// Models that stay, as they were typed.
    package var keep: [String]
    /// Seconds; only what was not used for so long may go.
    package var olderThan: Int64?

    package init(bytes: Int64, keep: [String], olderThan: Int64?) {
        (self.bytes, self.keep, self.olderThan) = (bytes, keep, olderThan)
    }
}

extension Catalog {
    /// The rule of a cache; nil without one.
    package func budget(ofCache cache: String) throws(AIError) -> BudgetRule? {
        try read { connection in
            try connection.first("SELECT bytes, keep, older_than FROM budgets WHERE cache = ?", cache) { row in
                let keep = (try? JSON.parse(row.text(1)))?.array?.compactMap(\.string) ?? []
                return BudgetRule(bytes: row.int(0), keep: keep, olderThan: row.optionalInt(2))
            }
        }
    }

    /// Sets the rule of a cache, or ends it.
    package func setBudget(_ rule: BudgetRule?, ofCache cache: String) throws(AIError) {
        try write(isPrecious: true) { connection in
            guard let rule else { return try connection.run("DELETE FROM budgets WHERE cache = ?", cache) }
            try connection.run(
                "INSERT OR REPLACE INTO budgets (cache, bytes, keep, older_than) VALUES (?, ?, ?, ?)", cache,
                rule.bytes, JSON.array(rule.keep.map { .string($0) }).text(.compact), rule.olderThan)
        }
    }
}
