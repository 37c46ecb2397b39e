import HubCore

/// Reads one repository folder: everything that Python, other clients and `hub` itself leave there.
///
/// Unlike Python's scan nothing hides the repository: what is broken is noted beside what is whole.
struct RepositoryScanner {
    let folder: RepositoryFolder
    let repository: Repository
    let store: SharedStore?
    /// The files of a commit, where somebody knows them.
    let tree: (Commit) -> RepositoryTree?

    /// Folders visited, by path below the cache, with their modification times in nanoseconds.
    private(set) var directories: [String: Int64] = [:]
    private(set) var remarks: [String] = []

    init(
        folder: RepositoryFolder, repository: Repository, store: SharedStore?,
        tree: @escaping (Commit) -> RepositoryTree?
    ) {
        (self.folder, self.repository, self.store, self.tree) = (folder, repository, store, tree)
    }

    mutating func scan() throws(AIError) -> CachedRepository {
        _ = try list(folder.path)
        _ = try list(folder.trees)
        let (blobs, partials) = try scanBlobs()
        var refs: [String: [String]] = [:]
        try scanRefs(folder.refs, prefix: "", into: &refs)
        var revisions: [CachedRevision] = []
        for name in try list(folder.snapshots) ?? [] {
            let path = Path.join(folder.snapshots, name)
            guard let status = try FileSystem.linkStatus(path), status.kind == .directory, let commit = Commit(name)
            else {
                remarks.append("\(path) is no snapshot")
                continue
            }
            revisions.append(try scanSnapshot(commit, status, refs[name] ?? [], blobs))
        }
        let known = Set(revisions.map(\.commit.hash))
        let dangling = refs.filter { !known.contains($0.key) }.flatMap(\.value).sorted()
        return CachedRepository(
            folder: folder, repository: repository, revisions: revisions, blobs: blobs, partials: partials,
            danglingRefs: dangling)
    }

    /// The names in a folder; its modification time is noted, that of an absent one too.
    private mutating func list(_ path: String) throws(AIError) -> [String]? {
        let key = path.dropping(prefix: folder.cache.root + "/") ?? path
        guard let status = try FileSystem.linkStatus(path), status.kind == .directory else {
            directories[key] = 0
            return nil
        }
        // Taken before the listing: a change in between is seen next time.
        directories[key] = status.modifiedNanoseconds
        return try FileSystem.entries(path)
    }

    private mutating func scanBlobs() throws(AIError) -> (blobs: [String: CachedBlob], partials: [CachedBlob]) {
        var blobs: [String: CachedBlob] = [:]
        var partials: [CachedBlob] = []
        for name in try list(folder.blobs) ?? [] {
            let path = folder.blob(name)
            // It may go at any moment: Python's prune asks nobody.
            guard let entry = try FileSystem.linkStatus(path) else { continue }
            switch entry.kind {
            case .file where name.hasSuffix(".incomplete"):
                partials.append(CachedBlob(name: name, file: PhysicalFile(entry)))
            case .file:
                // Leftovers of a probe or of a link in the making, of Python or of ours.
                if name.hasPrefix("tmp_") || name.hasPrefix(".") || name.hasSuffix(".tmp") { continue }
                blobs[name] = CachedBlob(name: name, file: PhysicalFile(entry))
            case .symlink:
                if name.hasPrefix(".") { continue }
                let hash = FileSystem.linkText(path).flatMap { store?.hash(ofLink: $0, in: folder) }
                let target = try FileSystem.status(path)
                blobs[name] = CachedBlob(
                    name: name, file: target?.kind == .file ? target.map(PhysicalFile.init) : nil, sharedHash: hash)
            default: remarks.append("\(path) is no blob")
            }
        }
        return (blobs, partials)
    }

    private mutating func scanRefs(_ path: String, prefix: String, into refs: inout [String: [String]])
        throws(AIError)
    {
        for name in try list(path) ?? [] {
            let child = Path.join(path, name)
            guard let status = try FileSystem.linkStatus(child) else { continue }
            if status.kind == .directory {
                try scanRefs(child, prefix: prefix + name + "/", into: &refs)
            } else if status.kind == .file, !name.hasSuffix(".tmp"), let text = try FileSystem.text(child) {
                refs[text.filter { !$0.isWhitespace }, default: []].append(prefix + name)
                if text.contains(where: \.isWhitespace) {
                    remarks.append("\(child) ends in a line end, which hides the repository from Python")
                }
            }
        }
    }

    private mutating func scanSnapshot(
        _ commit: Commit, _ status: FileStatus, _ refs: [String], _ blobs: [String: CachedBlob]
    ) throws(AIError) -> CachedRevision {
        var files: [CachedFile] = []
        var newest = 0.0
        try scanFiles(folder.snapshot(commit), prefix: "", blobs, into: &files, newest: &newest)
        let revision = CachedRevision(
            commit: commit, refs: refs.sorted(), files: files, isComplete: nil,
            downloadedAt: newest > 0 ? newest : status.modified, lastUsedAt: 0)
        return revision.judged(by: tree(commit), blobs: blobs, fallback: status.accessed)
    }

    private mutating func scanFiles(
        _ path: String, prefix: String, _ blobs: [String: CachedBlob], into files: inout [CachedFile],
        newest: inout Double
    ) throws(AIError) {
        for name in try list(path) ?? [] {
            let child = Path.join(path, name)
            guard let status = try FileSystem.linkStatus(child) else { continue }
            switch status.kind {
            case .directory: try scanFiles(child, prefix: prefix + name + "/", blobs, into: &files, newest: &newest)
            case .file:
                // A link that `hub` or Python was about to rename.
                if name.hasSuffix(".tmp") { continue }
                files.append(CachedFile(path: prefix + name, file: PhysicalFile(status), isBroken: false))
                newest = max(newest, status.modified)
            case .symlink:
                let text = FileSystem.linkText(child) ?? ""
                let target = Path.normalized(Path.join(path, text))
                let blob = Path.parent(target) == folder.blobs ? Path.name(target) : nil
                let broken: Bool
                if let blob {
                    broken = blobs[blob]?.file == nil
                } else {
                    broken = try FileSystem.status(child) == nil
                }
                files.append(CachedFile(path: prefix + name, blob: blob, isBroken: broken))
                if broken { remarks.append("\(child) is a broken link") }
                newest = max(newest, status.modified)
            case .other: remarks.append("\(child) is no file")
            }
        }
    }
}

extension CachedRevision {
    /// With what the tree and the blobs add: whether it is whole, and when it was last read.
    func judged(by tree: RepositoryTree?, blobs: [String: CachedBlob], fallback: Double) -> CachedRevision {
        var out = self
        var used = 0.0
        var sizes: [String: Int64] = [:]
        for file in files {
            guard let physical = file.file ?? file.blob.flatMap({ blobs[$0]?.file }) else { continue }
            used = max(used, physical.accessed)
            sizes[file.path] = physical.size
        }
        out.lastUsedAt = used > 0 ? used : fallback
        out.isComplete =
            files.contains(where: \.isBroken)
            ? false : tree.map { $0.files.allSatisfy { sizes[$0.path] == $0.size } }
        return out
    }
}
