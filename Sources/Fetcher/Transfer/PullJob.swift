import HubCore

/// One repository's part in a session. Touched on the engine's thread alone.
final class PullJob: @unchecked Sendable {
    /// The place of its plan among those of the call.
    let index: Int
    let repository: Repository
    let commit: Commit
    let folder: RepositoryFolder
    /// Whether snapshots may be links here.
    let symlinks: Bool
    /// What is to be done; several paths may share one content.
    let missing: [RepositoryFile]
    /// Where the cache holds content under another name.
    let sources: [ContentDigest: String]
    var outcomes: [PulledFile] = []

    init(_ plan: PullPlan, index: Int, symlinks: Bool) {
        self.index = index
        self.symlinks = symlinks
        repository = plan.repository
        commit = plan.commit
        folder = plan.folder
        var missing: [RepositoryFile] = []
        var sources: [ContentDigest: String] = [:]
        for (file, state) in plan.files where state != .present {
            missing.append(file)
            if case .elsewhere(let source) = state { sources[file.digest] = source }
        }
        self.missing = missing
        self.sources = sources
    }

    /// One transfer for each content.
    func transfers() -> [FileTransfer] {
        var paths: [ContentDigest: [RepositoryFile]] = [:]
        for file in missing { paths[file.digest, default: []].append(file) }
        return paths.values.map { files in
            FileTransfer(files[0], paths: files.map(\.path), of: self, source: sources[files[0].digest])
        }
    }
}
