package import HubCore

extension Catalog {
    /// Keeps what the README of a commit says first, for ever: a commit's files cannot change.
    ///
    /// - Parameter summary: empty where it says nothing.
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

    /// What the README of a commit says first, empty where it says nothing; nil where it was never read.
    package func card(of repository: Repository, at commit: Commit) throws(AIError) -> String? {
        try read { connection in
            guard let model = try ModelRow.number(of: repository, connection) else { return nil }
            return try connection.first(
                "SELECT summary FROM cards WHERE model = ? AND \"commit\" = ?", model, commit.hash,
                map: { $0.text(0) })
        }
    }

    /// When the oldest answer among what is known of a repository's branches and tags was given, seconds since 1970; nil
    /// where nothing is.
    package func revisionsSeenAt(_ repository: Repository) throws(AIError) -> Double? {
        try read { connection in
            guard let model = try ModelRow.number(of: repository, connection) else { return nil }
            return try connection.first(
                "SELECT min(seen_at) FROM revisions WHERE model = ?", model, map: { $0.optionalDouble(0) }) ?? nil
        }
    }
}
