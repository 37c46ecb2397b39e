package import HubCore

/// What the pulls of a cached revision have chosen of its files.
package struct RememberedChoice: Sendable, Hashable {
    package var commit: Commit
    package var choice: FileChoice
}

extension Catalog {
    /// Adds what a completed pull chose to what earlier pulls of the revision chose.
    ///
    /// - Parameters:
    ///   - cache: the key of the cache's records.
    ///   - path: where the cache is.
    ///   - replaces: whether the earlier choices end.
    package func remember(
        _ choice: FileChoice, of commit: Commit, folder: String, cache: String, at path: String, replaces: Bool,
        now: Double
    ) throws(AIError) {
        func sum(_ connection: Connection) throws -> (sum: FileChoice, isNew: Bool) {
            let known = try Self.choice(of: commit, folder: folder, cache: cache, connection)
            guard var sum = known, !replaces else { return (choice, known != choice) }
            sum.add(choice)
            return (sum, sum != known)
        }
        // Most pulls choose what was chosen before, and writing costs a wait for the disk.
        guard try read({ try sum($0).isNew }) else { return }
        try write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO choices (cache, folder, \"commit\", choice, chosen_at) VALUES (?, ?, ?, ?, ?)",
                cache, folder, commit.hash, try sum(connection).sum.json.text(), now)
            // What a scan says of completeness depends on the choice.
            try connection.run(
                "DELETE FROM repositories WHERE folder = ? AND cache IN (SELECT cache FROM caches WHERE path = ?)",
                folder, path)
        }
    }

    /// What the pulls of a cached revision have chosen; nil where that is not known.
    package func choice(of commit: Commit, folder: String, cache: String) throws(AIError) -> FileChoice? {
        try read { try Self.choice(of: commit, folder: folder, cache: cache, $0) }
    }

    /// What is known of a repository's revisions, the newest choice first.
    package func choices(folder: String, cache: String) throws(AIError) -> [RememberedChoice] {
        try read { connection in
            try connection.query(
                "SELECT \"commit\", choice FROM choices WHERE cache = ? AND folder = ? ORDER BY chosen_at DESC",
                cache, folder
            ) { row -> RememberedChoice? in
                guard let commit = Commit(row.text(0)), let choice = Self.choice(row.text(1)) else { return nil }
                return RememberedChoice(commit: commit, choice: choice)
            }.compactMap { $0 }
        }
    }

    /// Forgets what was chosen of a revision that is not in the cache any more.
    package func forgetChoice(of commit: Commit, folder: String, cache: String) throws(AIError) {
        guard try choice(of: commit, folder: folder, cache: cache) != nil else { return }
        try write { connection in
            try connection.run(
                "DELETE FROM choices WHERE cache = ? AND folder = ? AND \"commit\" = ?", cache, folder, commit.hash)
        }
    }

    private static func choice(of commit: Commit, folder: String, cache: String, _ connection: Connection) throws
        -> FileChoice?
    {
        try connection.first(
            "SELECT choice FROM choices WHERE cache = ? AND folder = ? AND \"commit\" = ?", cache, folder,
            commit.hash
        ) { choice($0.text(0)) } ?? nil
    }

    /// A row that cannot be read is as good as none.
    private static func choice(_ text: String) -> FileChoice? { (try? JSON.parse(text)).flatMap(FileChoice.init) }
}
