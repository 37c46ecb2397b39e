import Catalog
import HubCore

/// One repository's part in a session.
final class PullJob: Sendable {
    /// The place of its plan among those of the call.
    let index: Int
    let repository: Repository
    let commit: Commit
    let folder: RepositoryFolder
    /// The folder that the files go to; nil where that is the cache.
    let local: LocalFolder?
    /// Whether snapshots may be links here.
    let symlinks: Bool
    /// Whether what somebody changed in the folder is replaced.
    let replacesChanged: Bool
    /// What is to be done; several paths may share one content.
    let missing: [RepositoryFile]
    /// Where files are whose content only has to be proven and given its place, by path.
    let sources: [String: String]
    let outcomes: Lock<[PulledFile]>

    init(_ plan: PullPlan, index: Int, symlinks: Bool) {
        self.index = index
        self.symlinks = symlinks
        repository = plan.repository
        commit = plan.commit
        folder = plan.folder
        local = plan.local
        replacesChanged = plan.replacesChanged
        places = { plan.places($0) }
        var missing: [RepositoryFile] = []
        var outcomes: [PulledFile] = []
        var sources: [String: String] = [:]
        for (file, state) in plan.files where state != .present {
            if state == .foreign {
                outcomes.append(
                    PulledFile(
                        path: file.path, size: file.size, status: .failed, error: Self.isForeign(file, plan.local)))
                continue
            }
            missing.append(file)
            if case .elsewhere(let source) = state { sources[file.path] = source }
        }
        self.missing = missing
        self.sources = sources
        self.outcomes = Lock(outcomes)
    }

    /// Where a file comes together.
    let places: @Sendable (RepositoryFile) -> TransferPlaces

    /// Where a file can be read once it is whole.
    func place(_ path: String) -> String { local?.place(path) ?? Path.join(folder.snapshot(commit), path) }

    /// That a file is somebody's own work, which no pull takes away unasked.
    static func isForeign(_ file: RepositoryFile, _ local: LocalFolder?) -> AIError {
        AIError(
            .fileChanged,
            "\(local?.place(file.path) ?? file.path) was changed since it was fetched, or is not from the Hub",
            advice:
                "move it away, or repeat the command with --force: it replaces the files that differ, and only those",
            context: .init(path: file.path))
    }

    /// The file in the cache, where it has one; that is for a folder of one's own to copy.
    func cached(_ file: RepositoryFile) throws(AIError) -> String? {
        try SnapshotFile.hasBlob(file, in: folder) ? folder.blob(file.digest.hex) : nil
    }

    /// By what the catalog knows content that has been proven just now.
    func verified(_ file: RepositoryFile) throws(AIError) -> (cache: String, file: VerifiedFile)? {
        guard let status = try FileSystem.status(places(file).content) else { return nil }
        return (
            local?.path ?? folder.cache.root,
            VerifiedFile(folder: local == nil ? folder.name : file.path, etag: file.digest.hex, stamp: status.stamp)
        )
    }

    /// One transfer for each content; in a folder of one's own, for each file.
    func transfers() -> [FileTransfer] {
        var groups: [String: [RepositoryFile]] = [:]
        for file in missing { groups[places(file).content, default: []].append(file) }
        return groups.values.map { files in
            FileTransfer(files[0], paths: files.map(\.path), of: self, source: sources[files[0].path])
        }
    }

    /// Gives every path of a proven content its place: the entry in the snapshot, or the note beside the folder.
    ///
    /// - Parameter isNew: whether the content was fetched, or was here before.
    func place(_ file: RepositoryFile, at paths: [String], isNew: Bool) throws(AIError) {
        if let local { return try local.write(file.path, commit: commit, digest: file.digest) }
        for path in paths {
            let place = place(path)
            if !symlinks, !isNew {
                // Other revisions may link to a blob that was there before: it stays where it is, as Python has it.
                try FileSystem.createDirectories(Path.parent(place))
                try FileCopy.copy(
                    folder.blob(file.digest.hex), to: place, through: folder.partialCopy(file.digest.hex))
                continue
            }
            var entry = file
            entry.path = path
            try SnapshotFile.link(entry, commit: commit, in: folder, symlinks: symlinks)
            // Where there are no links, the blob itself has moved to the first path.
            if !FileSystem.exists(place), path != paths[0] {
                try FileCopy.copy(self.place(paths[0]), to: place, through: folder.partialCopy(file.digest.hex))
            }
        }
    }
}
