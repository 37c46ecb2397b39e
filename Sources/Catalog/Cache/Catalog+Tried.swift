package import HubCore

/// How a smoke test ended.
package struct TriedModel: Sendable, Hashable {
    /// Seconds since 1970.
    package var at: Double
    /// `pass`, `warn` or `fail`.
    package var verdict: String
    /// New tokens of a decoder, read ones of a model that embeds; nil if it did not get that far.
    package var tokensPerSecond: Double?
    /// Who ran it: `hf:groq`; nil for this machine.
    package var provider: String?

    package init(at: Double, verdict: String, tokensPerSecond: Double?, provider: String? = nil) {
        self.at = at
        self.verdict = verdict
        self.tokensPerSecond = tokensPerSecond
        self.provider = provider
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

/// Tests of remote models: those who serve them choose the commit.
extension Catalog {
    /// Remembers how a provider's test ended, in place of an earlier one.
    package func remember(_ tried: TriedModel, of repository: Repository, at provider: String) throws(AIError) {
        try write { connection in
            try connection.run(
                """
                INSERT OR REPLACE INTO tried_remotely (repository, provider, tried_at, verdict, tokens_per_second)
                VALUES (?, ?, ?, ?, ?)
                """, repository.description, provider, tried.at, tried.verdict, tried.tokensPerSecond)
        }
    }

    /// All tests of remote models that are remembered, by the repository's description, the last ones first.
    package func triedRemotely() throws(AIError) -> [String: [TriedModel]] {
        try read { connection in
            var all: [String: [TriedModel]] = [:]
            _ = try connection.query(
                """
                SELECT repository, provider, tried_at, verdict, tokens_per_second FROM tried_remotely
                ORDER BY tried_at DESC, provider
                """
            ) { row in
                all[row.text(0), default: []].append(
                    TriedModel(
                        at: row.double(2), verdict: row.text(3), tokensPerSecond: row.optionalDouble(4),
                        provider: row.text(1)))
            }
            return all
        }
    }
}
