package import HubCore

/// How a smoke test ended.
package struct TriedModel: Sendable, Hashable {
    /// Seconds since 1970.
    package var at: Double
    /// `pass`, `warn` or `fail`.
    package var verdict: String
    /// New tokens of a decoder, read ones of a model that embeds; nil if it did not get that far.
    package var tokensPerSecond: Double?

    package init(at: Double, verdict: String, tokensPerSecond: Double?) {
        self.at = at
        self.verdict = verdict
        self.tokensPerSecond = tokensPerSecond
    }
}

extension Catalog {
    /// Remembers how a smoke test ended, in place of an earlier one.
    package func remember(_ tried: TriedModel, of repository: Repository, at commit: Commit) throws(AIError) {
        try write { connection in
            try connection.run(
                """
                INSERT OR REPLACE INTO tried (repository, "commit", tried_at, verdict, tokens_per_second)
                VALUES (?, ?, ?, ?, ?)
                """, repository.description, commit.hash, tried.at, tried.verdict, tried.tokensPerSecond)
        }
    }

    /// All smoke tests that are remembered, by the repository's description.
    package func tried() throws(AIError) -> [String: [Commit: TriedModel]] {
        try read { connection in
            var all: [String: [Commit: TriedModel]] = [:]
            _ = try connection.query(
                "SELECT repository, \"commit\", tried_at, verdict, tokens_per_second FROM tried"
            ) { row in
                guard let commit = Commit(row.text(1)) else { return }
                all[row.text(0), default: [:]][commit] = TriedModel(
                    at: row.double(2), verdict: row.text(3), tokensPerSecond: row.optionalDouble(4))
            }
            return all
        }
    }

    /// The smoke test of a commit; nil if there was none.
    package func tried(_ repository: Repository, at commit: Commit) throws(AIError) -> TriedModel? {
        try read { connection in
            try connection.first(
                "SELECT tried_at, verdict, tokens_per_second FROM tried WHERE repository = ? AND \"commit\" = ?",
                repository.description, commit.hash
            ) { TriedModel(at: $0.double(0), verdict: $0.text(1), tokensPerSecond: $0.optionalDouble(2)) }
        }
    }
}
