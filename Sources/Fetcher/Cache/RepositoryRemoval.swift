import HubCore

/// The steps by which things of one repository go. The caller holds ``RepositoryUse``.
struct RepositoryRemoval {
    let folder: RepositoryFolder
    /// What other processes read stays, however it came to that.
    let openFiles: OpenFiles
    private(set) var freed = Deletion.Outcome.Freed()
    private let store: SharedStore

    init(folder: RepositoryFolder, openFiles: OpenFiles) {
        (self.folder, self.openFiles) = (folder, openFiles)
        store = SharedStore(layout: folder.cache)
    }

    // MARK: Revisions

    /// - Parameter left: entries of `blobs/` that the plan counted on: after a cut nothing links to them any more.
    mutating func remove(_ commit: Commit, left: Set<String>) throws(AIError) {
        try removeRefs(naming: commit, below: folder.refs)
        var blobs = left
        try removeFiles(of: folder.snapshot(commit), blobs: &blobs)
        if try folder.snapshotNames().isEmpty { return try removeRemains() }
        try remove(orphans: blobs)
        try FileSystem.remove(folder.tree(commit))
        try FileSystem.removeEmptyDirectory(folder.trees)
        try FileSystem.removeTree(Path.join(folder.missing, commit.hash))
        try FileSystem.removeEmptyDirectory(folder.missing)
    }

    /// Removes files of a revision, folders that become empty, and blobs that nothing else needs.
    mutating func remove(_ paths: [String], of commit: Commit) throws(AIError) {
        let snapshot = folder.snapshot(commit)
        var blobs: Set<String> = []
        for path in paths {
            let file = Path.join(snapshot, path)
            try removeEntry(file, blobs: &blobs)
            var parent = Path.parent(file)
            while parent != snapshot, try FileSystem.removeEmptyDirectory(parent) { parent = Path.parent(parent) }
        }
        try remove(orphans: blobs)
    }

    private func removeRefs(naming commit: Commit, below path: String) throws(AIError) {
        for name in try FileSystem.entries(path) ?? [] {
            let child = Path.join(path, name)
            if try FileSystem.linkStatus(child)?.kind == .directory {
                try removeRefs(naming: commit, below: child)
                try FileSystem.removeEmptyDirectory(child)
            } else if try FileSystem.text(child)?.filter({ !$0.isWhitespace }) == commit.hash {
                try FileSystem.remove(child)
            }
        }
    }

    /// Removes a snapshot's entries, following no link, and collects the blobs they linked to.
    private mutating func removeFiles(of path: String, blobs: inout Set<String>) throws(AIError) {
        for name in try FileSystem.entries(path) ?? [] {
            let child = Path.join(path, name)
            if try FileSystem.linkStatus(child)?.kind == .directory {
                try removeFiles(of: child, blobs: &blobs)
            } else {
                try removeEntry(child, blobs: &blobs)
            }
        }
        try FileSystem.removeEmptyDirectory(path)
    }

    private mutating func removeEntry(_ path: String, blobs: inout Set<String>) throws(AIError) {
        guard let status = try FileSystem.linkStatus(path) else { return }
        if let text = FileSystem.linkText(path) {
            let target = Path.normalized(Path.join(Path.parent(path), text))
            if Path.parent(target) == folder.blobs { blobs.insert(Path.name(target)) }
        }
        if try FileSystem.remove(path) { freed.add(status) }
    }

    // MARK: Blobs

    mutating func remove(partials names: [String]) throws(AIError) {
        let folder = folder
        try folder.withBlobLocks(Set(names)) { names throws(AIError) in
            for name in names { try removeBlob(name) }
        }
        try removeIfEmpty()
    }

    /// Removes those entries of `blobs/` that no snapshot links to. The locks come first: who holds one may be about to
    /// make a link.
    mutating func remove(orphans names: Set<String>) throws(AIError) {
        guard !names.isEmpty else { return }
        let folder = folder
        try folder.withBlobLocks(names) { names throws(AIError) in
            let needed = try folder.linkedBlobs(below: folder.snapshots)
            for name in names where !needed.contains(name) { try removeBlob(name) }
        }
        try removeIfEmpty()
    }

    private mutating func removeBlob(_ name: String) throws(AIError) {
        let path = folder.blob(name)
        // A folder is no blob, whoever has put it there.
        guard let status = try FileSystem.linkStatus(path), status.kind != .directory else { return }
        if let target = try FileSystem.status(path), openFiles.users[PhysicalFile(target).identity] != nil {
            return
        }
        let hash = FileSystem.linkText(path).flatMap { store.exists() ? store.hash(ofLink: $0, in: folder) : nil }
        guard try FileSystem.remove(path) else { return }
        if let hash {
            let swept = try store.sweep(hash, sparing: openFiles)
            freed.size += swept.size
            freed.allocated += swept.allocated
        } else {
            freed.add(status)
        }
    }

    // MARK: The whole folder

    /// Removes what is left of a repository without snapshots.
    mutating func removeRemains() throws(AIError) {
        // A pull may have put a snapshot there since.
        guard try folder.snapshotNames().isEmpty else { return }
        try FileSystem.removeTree(folder.refs)
        let folder = folder
        try folder.withBlobLocks(Set(try FileSystem.entries(folder.blobs) ?? [])) { names throws(AIError) in
            for name in names { try removeBlob(name) }
        }
        try removeIfEmpty()
    }

    /// A repository that held nothing but what has just gone is no repository any more. To Python a folder without
    /// `snapshots` is a damaged one, so that goes last, and at once: by a rename to where Python does not look.
    private func removeIfEmpty() throws(AIError) {
        // What is no repository's folder is somebody's own, the cache itself above all.
        guard RepositoryFolder.isName(folder.name), Path.parent(folder.path) == folder.cache.root,
            try folder.snapshotNames().isEmpty, try FileSystem.entries(folder.blobs)?.isEmpty ?? true,
            FileSystem.exists(folder.path)
        else { return }
        // Whoever has put a blob there since the look keeps it.
        try FileSystem.removeEmptyDirectory(folder.blobs)
        guard try FileSystem.linkStatus(folder.blobs) == nil else { return }
        for name in try FileSystem.entries(folder.path) ?? [] where name != "snapshots" {
            try FileSystem.removeTree(Path.join(folder.path, name))
        }
        try FileSystem.createDirectories(folder.locks)
        let aside = Path.join(folder.locks, "hub.deleted")
        try FileSystem.removeTree(aside)
        try FileSystem.rename(folder.path, to: aside)
        let hidden = Path.join(aside, "snapshots")
        let names = try FileSystem.entries(hidden) ?? []
        guard names.allSatisfy(RepositoryFolder.isLitter), try FileSystem.entries(aside)?.count ?? 0 <= 1 else {
            // Another client has come in between the last look and the rename.
            return try FileSystem.rename(aside, to: folder.path)
        }
        try FileSystem.removeTree(aside)
    }
}
