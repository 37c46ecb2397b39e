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
        _ = try list(folder.snapshots)
        for name in try folder.snapshotNames() {
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

    /// Notes a folder of the shared store as one that the scan depends on.
    private mutating func note(_ path: String) throws(AIError) {
        let key = path.dropping(prefix: folder.cache.root + "/") ?? path
        guard directories[key] == nil else { return }
        let status = try FileSystem.linkStatus(path)
        directories[key] = status?.kind == .directory ? status?.modifiedNanoseconds : 0
    }

    /// Whether a name in `blobs/` is that of a partial, or of a copy that was not finished, of whatever client.
    private static func isUnfinished(_ name: String) -> Bool {
        name.hasSuffix(".incomplete") || name.hasSuffix(".tmp") || name.hasPrefix("tmp_") || name.hasPrefix(".")
    }

    private mutating func scanBlobs() throws(AIError) -> (blobs: [String: CachedBlob], partials: [CachedBlob]) {
        var blobs: [String: CachedBlob] = [:]
        var partials: [CachedBlob] = []
        for name in try list(folder.blobs) ?? [] {
            let path = folder.blob(name)
            // It may go at any moment: Python's prune asks nobody.
            guard let entry = try FileSystem.linkStatus(path) else { continue }
            switch entry.kind {
            case .file where Self.isUnfinished(name):
                partials.append(CachedBlob(name: name, file: PhysicalFile(entry)))
            case .file: blobs[name] = CachedBlob(name: name, file: PhysicalFile(entry))
            case .symlink:
                // A link in the making: it holds no bytes.
                if name.hasPrefix(".") { continue }
                let hash = FileSystem.linkText(path).flatMap { store?.hash(ofLink: $0, in: folder) }
                // What it leads to can go without a change in this repository.
                try note(folder.cache.sharedStore)
                if let store, let hash { try note(Path.parent(store.payload(hash))) }
                let target = try FileSystem.status(path)
                blobs[name] = CachedBlob(
                    name: name, file: target?.kind == .file ? target.map(PhysicalFile.init) : nil, sharedHash: hash,
                    isForeign: hash == nil)
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
        // Not the folder's time of access: looking at it, as here, is no use.
        return revision.judged(by: tree(commit), blobs: blobs, fallback: status.modified)
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
        var sizes: [ExactText: Int64] = [:]
        for file in files {
            guard let physical = file.file ?? file.blob.flatMap({ blobs[$0]?.file }) else { continue }
            used = max(used, physical.accessed)
            sizes[ExactText(file.path)] = physical.size
        }
        out.lastUsedAt = used > 0 ? used : fallback
        out.isComplete =
            files.contains(where: \.isBroken)
            ? false : tree.map { $0.files.allSatisfy { sizes[ExactText($0.path)] == $0.size } }
        return out
    }
}
