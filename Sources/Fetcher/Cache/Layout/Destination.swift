import HubCore

/// Where a pull puts files: into the cache, or into a folder of one's own (`--local-dir`).
package enum Destination: Sendable, Hashable {
    /// Blobs of the cache, with links in a snapshot.
    case cache
    /// The files themselves.
    case folder(LocalFolder)

    package var isCache: Bool { self == .cache }

    /// A folder, existing or not, on the file system that needs space.
    func root(_ cache: CacheLayout) -> String {
        switch self {
        case .cache: cache.root
        case .folder(let folder): folder.path
        }
    }

    /// The folder of a commit's files.
    func path(_ commit: Commit, of repository: RepositoryFolder) -> String {
        switch self {
        case .cache: repository.snapshot(commit)
        case .folder(let folder): folder.path
        }
    }

    /// The paths for assembling a file.
    func places(_ file: RepositoryFile, of repository: RepositoryFolder) -> TransferPlaces {
        switch self {
        case .cache: repository.places(file)
        case .folder(let folder): folder.places(file)
        }
    }
}
