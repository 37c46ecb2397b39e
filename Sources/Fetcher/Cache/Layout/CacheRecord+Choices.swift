package import Catalog
package import HubCore

/// The file choices of pulls. They move with the cache, like pins.
extension CacheRecord {
    /// The choice of a cached revision's pulls; nil if unknown.
    package func choice(of commit: Commit, _ folder: String) throws(AIError) -> RememberedChoice? {
        try catalog.choice(of: commit, folder: folder, cache: try key())
    }

    /// The choices for a repository's revisions, the newest first.
    package func choices(_ folder: String) throws(AIError) -> [RememberedChoice] {
        try catalog.choices(folder: folder, cache: try key())
    }

    /// Records what a pull is about to fetch; replaces the choice of an earlier pull that did not complete.
    package func begin(_ choice: FileChoice, of commit: Commit, _ folder: String) throws(AIError) {
        let place = (try? idForWriting()) ?? layout.root
        try catalog.begin(
            choice, of: commit, folder: folder, cache: place, at: layout.root, now: Timestamp.now)
    }

    /// Adds a completed pull's choice to those of earlier pulls of the revision.
    ///
    /// - Parameter replaces: whether it replaces the earlier choices.
    package func remember(_ choice: FileChoice, of commit: Commit, _ folder: String, replaces: Bool)
        throws(AIError)
    {
        let place = (try? idForWriting()) ?? layout.root
        try catalog.remember(
            choice, of: commit, folder: folder, cache: place, at: layout.root, replaces: replaces,
            now: Timestamp.now)
    }

    /// Changes the known choice of a revision, for files that were deleted or brought back on purpose.
    func change(choiceOf commit: Commit, _ folder: String, _ body: (FileChoice) -> FileChoice) throws(AIError) {
        try catalog.change(
            choiceOf: commit, folder: folder, cache: try key(), at: layout.root, now: Timestamp.now, body)
    }

    package func forgetChoice(of commit: Commit, _ folder: String) throws(AIError) {
        try catalog.forgetChoice(of: commit, folder: folder, cache: try key())
    }
}

extension DispensableCatalog {
    /// Whether the first pull of a cached revision was cut off, and files that it chose are missing.
    package func isUnfinished(_ folder: RepositoryFolder, _ commit: Commit) throws(AIError) -> Bool {
        let known = use { catalog throws(AIError) in
            try CacheRecord(folder.cache, in: catalog).choice(of: commit, folder.name)
        }
        guard let known = known ?? nil, known.isUnfinished, let tree = try folder.readTree(commit) else {
            return false
        }
        let snapshot = folder.snapshot(commit)
        return tree.files.contains {
            known.choice.matches($0.path) && !FileSystem.exists(Path.join(snapshot, $0.path))
        }
    }
}
