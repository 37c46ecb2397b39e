package import Catalog
package import HubCore

/// What pulls chose of the revisions of a cache. It moves with the cache, as pins do.
extension CacheRecord {
    /// What the pulls of a cached revision have chosen; nil where that is unknown.
    package func choice(of commit: Commit, _ folder: String) throws(AIError) -> RememberedChoice? {
        try catalog.choice(of: commit, folder: folder, cache: try key())
    }

    /// What is known of a repository's revisions, the newest choice first.
    package func choices(_ folder: String) throws(AIError) -> [RememberedChoice] {
        try catalog.choices(folder: folder, cache: try key())
    }

    /// Notes what a pull is about to fetch, in place of what an earlier one began with and did not complete.
    package func begin(_ choice: FileChoice, of commit: Commit, _ folder: String) throws(AIError) {
        let place = (try? idForWriting()) ?? layout.root
        try catalog.begin(
            choice, of: commit, folder: folder, cache: place, at: layout.root, now: Timestamp.now)
    }

    /// Adds what a completed pull chose to what earlier pulls of the revision chose.
    ///
    /// - Parameter replaces: whether the earlier choices end.
    package func remember(_ choice: FileChoice, of commit: Commit, _ folder: String, replaces: Bool)
        throws(AIError)
    {
        let place = (try? idForWriting()) ?? layout.root
        try catalog.remember(
            choice, of: commit, folder: folder, cache: place, at: layout.root, replaces: replaces,
            now: Timestamp.now)
    }

    package func forgetChoice(of commit: Commit, _ folder: String) throws(AIError) {
        try catalog.forgetChoice(of: commit, folder: folder, cache: try key())
    }
}
