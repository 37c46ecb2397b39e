package import HubCore

/// What the pulls of a cached revision have chosen of its files.
package struct RememberedChoice: Sendable, Hashable {
    package var commit: Commit
    /// What completed pulls chose; nil where none is complete.
    package internal(set) var chosen: FileChoice?
    /// What a pull chose that has begun and is not complete.
    package internal(set) var begun: FileChoice?

    init(_ commit: Commit) { self.commit = commit }

    /// What is wanted of the revision: what was chosen, and what a pull has begun with.
    package var choice: FileChoice {
        guard var sum = chosen else { return begun ?? .everything }
        if let begun { sum.add(begun) }
        return sum
    }

    /// The first pull has begun and is not complete.
    package var isUnfinished: Bool { chosen == nil && begun != nil }
}

extension Catalog {
    /// Notes what a pull is about to fetch, so that what is missing of it is known however the pull ends. It takes the place
    /// of what an earlier pull began with and did not complete.
    ///
    /// - Parameters:
    ///   - cache: the key of the cache's records.
    ///   - path: where the cache is.
    package func begin(
        _ choice: FileChoice, of commit: Commit, folder: String, cache: String, at path: String, now: Double
    ) throws(AIError) {
        try change(commit, folder: folder, cache: cache, at: path, now: now) { known in
            // Most pulls choose what was chosen before.
            var sum = known.chosen
            sum?.add(choice)
            known.begun = sum != nil && sum == known.chosen ? nil : choice
        }
    }

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
        try change(commit, folder: folder, cache: cache, at: path, now: now) { known in
            if known.chosen == nil || replaces { known.chosen = choice } else { known.chosen?.add(choice) }
            // Another pull of the revision may be under way.
            if known.begun == choice { known.begun = nil }
        }
    }

    private func change(
        _ commit: Commit, folder: String, cache: String, at path: String, now: Double,
        _ change: (inout RememberedChoice) -> Void
    ) throws(AIError) {
        func changed(_ connection: Connection) throws -> (choice: RememberedChoice, isNew: Bool) {
            let known = try Self.choice(of: commit, folder: folder, cache: cache, connection)
            var changed = known ?? RememberedChoice(commit)
            change(&changed)
            return (changed, changed != known)
        }
        // Writing costs a wait for the disk.
        guard try read({ try changed($0).isNew }) else { return }
        try write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO choices (cache, folder, \"commit\", choice, chosen_at) VALUES (?, ?, ?, ?, ?)",
                cache, folder, commit.hash, try changed(connection).choice.json.text(), now)
            // What a scan says of completeness depends on the choice.
            try connection.run(
                "DELETE FROM repositories WHERE folder = ? AND cache IN (SELECT cache FROM caches WHERE path = ?)",
                folder, path)
        }
    }

    /// What the pulls of a cached revision have chosen; nil where that is not known.
    package func choice(of commit: Commit, folder: String, cache: String) throws(AIError) -> RememberedChoice? {
        try read { try Self.choice(of: commit, folder: folder, cache: cache, $0) }
    }

    /// What is known of a repository's revisions, the newest choice first.
    package func choices(folder: String, cache: String) throws(AIError) -> [RememberedChoice] {
        try read { connection in
            try connection.query(
                "SELECT \"commit\", choice FROM choices WHERE cache = ? AND folder = ? ORDER BY chosen_at DESC",
                cache, folder
            ) { row in Commit(row.text(0)).flatMap { RememberedChoice($0, row.text(1)) } }.compactMap { $0 }
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
        -> RememberedChoice?
    {
        try connection.first(
            "SELECT choice FROM choices WHERE cache = ? AND folder = ? AND \"commit\" = ?", cache, folder,
            commit.hash
        ) { RememberedChoice(commit, $0.text(0)) } ?? nil
    }
}

extension RememberedChoice {
    /// A list where all pulls are complete, as before hub noted what pulls begin with.
    fileprivate var json: JSON {
        guard let begun else { return (chosen ?? .everything).json }
        return .object(["chosen": chosen?.json, "begun": begun.json])
    }

    /// Reads what ``json`` wrote. A row that cannot be read is as good as none.
    fileprivate init?(_ commit: Commit, _ text: String) {
        self.init(commit)
        guard let json = try? JSON.parse(text) else { return nil }
        if let fields = json.object {
            (chosen, begun) = (fields["chosen"].flatMap(FileChoice.init), fields["begun"].flatMap(FileChoice.init))
            if begun == nil { return nil }
        } else {
            guard let known = FileChoice(json: json) else { return nil }
            chosen = known
        }
    }
}
