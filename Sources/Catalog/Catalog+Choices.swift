package import HubCore

/// The file choice of a cached revision's pulls.
package struct RememberedChoice: Sendable, Hashable {
    package var commit: Commit
    package var choice: FileChoice
}

extension Catalog {
    /// Adds a completed pull's choice to those of earlier pulls of the revision.
    ///
    /// - Parameters:
    ///   - cache: the key of the cache's records.
    ///   - path: the path of the cache.
    ///   - replaces: whether it replaces the earlier choices.
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
        // Most pulls repeat an earlier choice, and writing waits for the disk.
        guard try read({ try sum($0).isNew }) else { return }
        try write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO choices (cache, folder, \"commit\", choice, chosen_at) VALUES (?, ?, ?, ?, ?)",
                cache, folder, commit.hash, try sum(connection).sum.json.text(), now)
            // A scan's completeness depends on the choice.
            try connection.run(
                "DELETE FROM repositories WHERE folder = ? AND cache IN (SELECT cache FROM caches WHERE path = ?)",
                folder, path)
        }
    }

    /// The choice of a cached revision's pulls; nil if unknown.
    package func choice(of commit: Commit, folder: String, cache: String) throws(AIError) -> FileChoice? {
        try read { try Self.choice(of: commit, folder: folder, cache: cache, $0) }
    }

    /// The choices for a repository's revisions, the newest first.
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

    /// Removes the choice of a revision that is no longer in the cache.
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

    /// An unreadable row counts as none.
    private static func choice(_ text: String) -> FileChoice? { (try? JSON.parse(text)).flatMap(FileChoice.init) }
}
