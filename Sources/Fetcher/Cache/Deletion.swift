package import HubCore

/// Carries a plan out. Killed at any moment it leaves a cache that Python reads: refs go before the snapshots they name,
/// snapshots before the blobs they link to.
package struct Deletion {
    private let plan: DeletionPlan
    private let layout: CacheLayout
    private let store: SharedStore

    package init(_ plan: DeletionPlan, layout: CacheLayout) {
        self.plan = plan
        self.layout = layout
        store = SharedStore(layout: layout)
    }

    /// Deletes, and returns the bytes that went: st_size of every file whose last name was removed, as it was then.
    ///
    /// Before a blob goes, its lock is taken and every snapshot is looked at again: a pull may have begun to need it.
    package func run() throws(AIError) -> Int64 {
        var freed: Int64 = 0
        for row in plan.rows {
            switch (row.subject, row.folder) {
            case (.revision(let commit), let folder?): freed += try deleteRevision(commit, in: folder)
            case (.partial(let names), let folder?):
                for name in names { freed += try unlinkBlob(name, in: folder) }
                try removeIfEmpty(folder)
            case (.orphan(let name), let folder?):
                if try !isNeeded(name, in: folder) { freed += try unlinkBlob(name, in: folder) }
                try removeIfEmpty(folder)
            case (.remains, let folder?):
                // A pull may have put a snapshot there since.
                if try folder.snapshotNames().isEmpty { freed += try deleteFolder(folder) }
            case (.payload(let hash), _): freed += try store.sweep(hash)
            default: break
            }
        }
        return freed
    }

    private func deleteRevision(_ commit: Commit, in folder: RepositoryFolder) throws(AIError) -> Int64 {
        var freed: Int64 = 0
        try removeRefs(naming: commit, below: folder.refs)
        let snapshot = folder.snapshot(commit)
        var blobs: Set<String> = []
        freed += try removeSnapshot(snapshot, in: folder, blobs: &blobs)
        if try folder.snapshotNames().isEmpty {
            freed += try deleteFolder(folder)
        } else {
            let needed = try folder.linkedBlobs(below: folder.snapshots)
            for name in blobs.subtracting(needed).sorted() { freed += try unlinkBlob(name, in: folder) }
            try FileSystem.remove(folder.tree(commit))
            try FileSystem.removeTree(Path.join(folder.missing, commit.hash))
            try FileSystem.removeEmptyDirectory(folder.missing)
        }
        return freed
    }

    /// Removes a snapshot's entries, following no link, and collects the blobs they linked to.
    private func removeSnapshot(_ path: String, in folder: RepositoryFolder, blobs: inout Set<String>)
        throws(AIError) -> Int64
    {
        var freed: Int64 = 0
        for name in try FileSystem.entries(path) ?? [] {
            let child = Path.join(path, name)
            guard let status = try FileSystem.linkStatus(child) else { continue }
            switch status.kind {
            case .directory: freed += try removeSnapshot(child, in: folder, blobs: &blobs)
            case .symlink:
                if let text = FileSystem.linkText(child) {
                    let target = Path.normalized(Path.join(path, text))
                    if Path.parent(target) == folder.blobs { blobs.insert(Path.name(target)) }
                }
                try FileSystem.remove(child)
            default:
                if try FileSystem.remove(child), status.links == 1 { freed += status.size }
            }
        }
        try FileSystem.removeEmptyDirectory(path)
        return freed
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

    private func isNeeded(_ name: String, in folder: RepositoryFolder) throws(AIError) -> Bool {
        try folder.linkedBlobs(below: folder.snapshots).contains(name)
    }

    /// Removes an entry of `blobs/` under its lock; nothing where another process holds that.
    private func unlinkBlob(_ name: String, in folder: RepositoryFolder) throws(AIError) -> Int64 {
        let path = folder.blob(name)
        let attempt = try BlobLock.attempt(folder.lock(DeletionPlanner.etag(ofPartial: name)))
        switch consume attempt {
        case .held: return 0
        case .unsupported: return try removeBlob(path, in: folder)
        case .taken(let lock):
            let freed = try removeBlob(path, in: folder)
            _ = consume lock
            return freed
        }
    }

    private func removeBlob(_ path: String, in folder: RepositoryFolder) throws(AIError) -> Int64 {
        guard let status = try FileSystem.linkStatus(path) else { return 0 }
        let hash = FileSystem.linkText(path).flatMap { store.exists() ? store.hash(ofLink: $0, in: folder) : nil }
        guard try FileSystem.remove(path) else { return 0 }
        if let hash { return try store.sweep(hash) }
        return status.kind == .file && status.links == 1 ? status.size : 0
    }

    /// Removes what is left of a repository without snapshots.
    private func deleteFolder(_ folder: RepositoryFolder) throws(AIError) -> Int64 {
        var freed: Int64 = 0
        try FileSystem.removeTree(folder.refs)
        for name in try FileSystem.entries(folder.blobs) ?? [] { freed += try unlinkBlob(name, in: folder) }
        guard try FileSystem.entries(folder.blobs)?.isEmpty ?? true else { return freed }
        try FileSystem.removeTree(folder.path)
        return freed
    }

    /// A repository that held nothing but what has just gone is no repository any more.
    private func removeIfEmpty(_ folder: RepositoryFolder) throws(AIError) {
        guard try folder.snapshotNames().isEmpty,
            try FileSystem.entries(folder.blobs)?.isEmpty ?? true
        else { return }
        try FileSystem.removeTree(folder.path)
    }
}
