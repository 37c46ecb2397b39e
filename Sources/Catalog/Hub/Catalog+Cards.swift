package import HubCore

extension Catalog {
    /// Stores the summary of a commit's README permanently: a commit's files cannot change.
    ///
    /// - Parameter summary: empty if there is none.
    package func remember(card summary: String, of repository: Repository, at commit: Commit, now: Double)
        throws(AIError)
    {
        try write { connection in
            let model = try Self.row(of: repository, connection)
            try connection.run(
                "INSERT OR REPLACE INTO cards (model, \"commit\", summary, fetched_at) VALUES (?, ?, ?, ?)",
                model, commit.hash, summary, now)
        }
    }

    /// The summary of a commit's README, empty if it has none; nil if it was never read.
    package func card(of repository: Repository, at commit: Commit) throws(AIError) -> String? {
        try read { connection in
            guard let model = try ModelRow.number(of: repository, connection) else { return nil }
            return try connection.first(
                "SELECT summary FROM cards WHERE model = ? AND \"commit\" = ?", model, commit.hash,
                map: { $0.text(0) })
        }
    }
}
