import Catalog
import HubCore

/// One repository's part in a session.
final class PullJob: Sendable {
    /// The index of its plan in the call.
    let index: Int
    let repository: Repository
    let commit: Commit
    let folder: RepositoryFolder
    let destination: Destination
    /// Whether snapshots may use links.
    let symlinks: Bool
    /// Whether changed files in the folder are replaced.
    let replacesChanged: Bool
    /// The files to fetch; several paths may share one content.
    let missing: [RepositoryFile]
    /// The paths of content that only has to be verified and put in place.
    let sources: [String: String]
    /// Those of them that are other programs' files, which are not hard-linked.
    let foreign: Set<String>
    /// What older revisions have given, by digest.
    let seeds: [String: DeltaSeed.Outcome]
    let outcomes: Lock<[PulledFile]>
    /// Who reads the file while it is fetched.
    let watch: TransferWatch?

    init(
        _ plan: PullPlan, index: Int, symlinks: Bool, seeds: [String: DeltaSeed.Outcome] = [:],
        watch: TransferWatch? = nil
    ) {
        self.watch = watch
        self.index = index
        self.symlinks = symlinks
        self.seeds = seeds
        repository = plan.repository
        commit = plan.commit
        folder = plan.folder
        destination = plan.destination
        replacesChanged = plan.replacesChanged
        foreign = plan.foreign
        places = { plan.places($0) }
        var missing: [RepositoryFile] = []
        var outcomes: [PulledFile] = []
        var sources: [String: String] = [:]
        for (file, state) in plan.files where state != .present {
            if state == .foreign {
                outcomes.append(
                    PulledFile(
                        path: file.path, size: file.size, status: .failed,
                        error: Self.isForeign(file, at: Path.join(plan.path, file.path))))
                continue
            }
            missing.append(file)
            if case .elsewhere(let source) = state { sources[file.path] = source }
        }
        self.missing = missing
        self.sources = sources
        self.outcomes = Lock(outcomes)
    }

    /// The paths for assembling a file.
    let places: @Sendable (RepositoryFile) -> TransferPlaces

    /// The path of a complete file.
    func place(_ path: String) -> String { Path.join(destination.path(commit, of: folder), path) }

    /// The error for a user's own file, which a pull does not replace by default.
    static func isForeign(_ file: RepositoryFile, at place: String) -> AIError {
        AIError(
            .fileChanged,
            "\(place) was changed since it was fetched, or is not from the Hub",
            advice:
                "move it away, or repeat the command with --force: it replaces the files that differ, and only those",
            context: .init(path: file.path))
    }

    /// The file in the cache, if present, for a local folder to copy.
    func cached(_ file: RepositoryFile) throws(AIError) -> String? {
        try SnapshotFile.hasBlob(file, in: folder) ? folder.blob(file.digest.hex) : nil
    }

    /// The catalog's record of content verified just now.
    func verified(_ file: RepositoryFile) throws(AIError) -> (cache: String, file: VerifiedFile)? {
        guard let status = try FileSystem.status(places(file).content) else { return nil }
        return (
            destination.root(folder.cache),
            VerifiedFile(
                folder: destination.isCache ? folder.name : file.path, etag: file.digest.hex, stamp: status.stamp)
        )
    }

    /// One transfer per content; in a local folder, per file.
    func transfers() -> [FileTransfer] {
        var groups: [String: [RepositoryFile]] = [:]
        for file in missing { groups[places(file).content, default: []].append(file) }
        return groups.values.map { files in
            FileTransfer(files[0], paths: files.map(\.path), of: self, source: sources[files[0].path])
        }
    }

    /// Puts verified content in place at every path: the entry in the snapshot, or the metadata of a local folder.
    ///
    /// - Parameter isNew: whether the content was fetched, or was here before.
    func place(_ file: RepositoryFile, at paths: [String], isNew: Bool) throws(AIError) {
        if case .folder(let local) = destination {
            return try local.write(file.path, commit: commit, digest: file.digest)
        }
        for path in paths {
            let place = place(path)
            if !symlinks, !isNew {
                // Other revisions may link to an existing blob: it stays, as in Python.
                try FileSystem.createDirectories(Path.parent(place))
                try FileCopy.copy(
                    folder.blob(file.digest.hex), to: place, through: folder.partialCopy(file.digest.hex))
                continue
            }
            var entry = file
            entry.path = path
            try SnapshotFile.link(entry, commit: commit, in: folder, symlinks: symlinks)
            // Without links, the blob itself has moved to the first path.
            if !FileSystem.exists(place), path != paths[0] {
                try FileCopy.copy(self.place(paths[0]), to: place, through: folder.partialCopy(file.digest.hex))
            }
        }
    }
}
