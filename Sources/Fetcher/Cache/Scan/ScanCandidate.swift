import HubCore

/// A folder of the cache that is a repository's, by its name.
struct ScanCandidate {
    var folder: RepositoryFolder
    var repository: Repository
    /// Whether the name is not a valid repository name.
    var hasForeignName: Bool
    /// Whether it is reached through a link.
    var isLink: Bool
}
