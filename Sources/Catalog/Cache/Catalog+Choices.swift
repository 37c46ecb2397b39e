package import HubCore

/// The file choice of a cached revision's pulls.
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
    /// Records what a pull is about to fetch, so that missing files are known however it ends. Replaces the choice of an
    /// earlier pull that did not complete.
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
        try change(commit, folder: folder, cache: cache, at: path, now: now) { known in
            if known.chosen == nil || replaces { known.chosen = choice } else { known.chosen?.add(choice) }
            // Another pull of the revision may be under way.
            if known.begun == choice { known.begun = nil }
        }
    }

    /// Changes the known choice of a revision, for files that were deleted or brought back on purpose.
    package func change(
        choiceOf commit: Commit, folder: String, cache: String, at path: String, now: Double,
        _ body: (FileChoice) -> FileChoice
    ) throws(AIError) {
        guard try choice(of: commit, folder: folder, cache: cache) != nil else { return }
        try change(commit, folder: folder, cache: cache, at: path, now: now) { known in
            (known.chosen, known.begun) = (known.chosen.map(body), known.begun.map(body))
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
        // Most pulls repeat an earlier choice, and writing waits for the disk.
        guard try read({ try changed($0).isNew }) else { return }
        try write { connection in
            try connection.run(
                "INSERT OR REPLACE INTO choices (cache, folder, \"commit\", choice, chosen_at) VALUES (?, ?, ?, ?, ?)",
                cache, folder, commit.hash, try changed(connection).choice.json.text(), now)
            // A scan's completeness depends on the choice.
            try connection.run(
                "DELETE FROM repositories WHERE folder = ? AND cache IN (SELECT cache FROM caches WHERE path = ?)",
                folder, path)
        }
    }

    /// The choice of a cached revision's pulls; nil if unknown.
    package func choice(of commit: Commit, folder: String, cache: String) throws(AIError) -> RememberedChoice? {
        try read { try Self.choice(of: commit, folder: folder, cache: cache, $0) }
    }

    /// The choices for a repository's revisions, the newest first.
    package func choices(folder: String, cache: String) throws(AIError) -> [RememberedChoice] {
        try read { connection in
            try connection.query(
                "SELECT \"commit\", choice FROM choices WHERE cache = ? AND folder = ? ORDER BY chosen_at DESC",
                cache, folder
            ) { row in Commit(row.text(0)).flatMap { RememberedChoice($0, row.text(1)) } }.compactMap { $0 }
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
        -> RememberedChoice?
    {
        try connection.first(
            "SELECT choice FROM choices WHERE cache = ? AND folder = ? AND \"commit\" = ?", cache, folder,
            commit.hash
        ) { RememberedChoice(commit, $0.text(0)) } ?? nil
    }
}

extension RememberedChoice {
    fileprivate var json: JSON { .object(["chosen": chosen?.json, "begun": begun?.json]) }

    /// Reads what ``json`` wrote. An unreadable row counts as none.
    fileprivate init?(_ commit: Commit, _ text: String) {
        self.init(commit)
        guard let fields = (try? JSON.parse(text))?.object else { return nil }
        (chosen, begun) = (fields["chosen"].flatMap(FileChoice.init), fields["begun"].flatMap(FileChoice.init))
        if chosen == nil, begun == nil { return nil }
    }
}
