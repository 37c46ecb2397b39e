package import HubCore

/// Every path that a plan deletes, as of now, to show before confirmation.
package struct DeletionPaths: Sendable {
    package struct Entry: Sendable, Hashable {
        /// Relative to the cache.
        package var path: String
        /// Bytes freed: st_size of a file of the plan, at the first of its names. nil for links, folders and metadata,
        /// which totals ignore.
        package var size: Int64?
    }

    /// In plan order.
    package private(set) var entries: [Entry] = []
    private let layout: CacheLayout
    private let store: SharedStore
    /// Per repository: the remaining snapshots with their blobs.
    private var snapshots: [RepositoryFolder: [String: Set<String>]] = [:]
    /// Per repository: the number of remaining snapshots that use each blob.
    private var users: [RepositoryFolder: [String: Int]] = [:]
    private var gone: Set<String> = []
    /// The files freed by the plan that are not listed yet.
    private var freed: Set<PhysicalFile.Identity>

    /// Walks the affected folders. Blocks.
    package init(_ plan: DeletionPlan, layout: CacheLayout) throws(AIError) {
        (self.layout, freed) = (layout, plan.freedFiles)
        store = SharedStore(layout: layout)
        for row in plan.rows {
            switch (row.subject, row.folder) {
            case (.revision(let commit), let folder?): try add(commit, of: folder, left: row.blobs)
            case (.partial(let names), let folder?):
                for name in names { try add(file: folder.blob(name)) }
            case (.orphan(let name), let folder?): try add(file: folder.blob(name))
            case (.remains, let folder?): try add(tree: folder.path)
            case (.payload(let hash), _): try add(payload: hash)
            default: break
            }
            if let folder = row.folder { try addIfEmpty(folder) }
        }
    }

    /// - Parameter left: blobs of the plan that, after an interruption, nothing links to any more.
    private mutating func add(_ commit: Commit, of folder: RepositoryFolder, left: Set<String>) throws(AIError) {
        try read(folder)
        let linked = snapshots[folder]?.removeValue(forKey: commit.hash) ?? []
        let own = linked.union(left)
        for blob in linked { users[folder]?[blob, default: 0] -= 1 }
        if snapshots[folder]?.isEmpty ?? true {
            try add(tree: folder.path)
            return
        }
        try addRefs(naming: commit, below: folder.refs)
        try add(tree: folder.snapshot(commit))
        for blob in own.sorted() where users[folder]?[blob] ?? 0 == 0 { try add(file: folder.blob(blob)) }
        try add(file: folder.tree(commit))
        try addIfEmptied(folder.trees)
        try add(tree: Path.join(folder.missing, commit.hash))
        try addIfEmptied(folder.missing)
    }

    /// A folder is deleted when it becomes empty.
    private mutating func addIfEmptied(_ path: String) throws(AIError) {
        let names = try FileSystem.entries(path) ?? []
        if names.allSatisfy({ gone.contains(Path.join(path, $0)) }) { try add(tree: path) }
    }

    private mutating func read(_ folder: RepositoryFolder) throws(AIError) {
        guard snapshots[folder] == nil else { return }
        var found: [String: Set<String>] = [:]
        for name in try folder.snapshotNames() {
            found[name] = try folder.linkedBlobs(below: Path.join(folder.snapshots, name))
        }
        snapshots[folder] = found
        users[folder] = found.values.reduce(into: [:]) { users, blobs in
            for blob in blobs { users[blob, default: 0] += 1 }
        }
    }

    /// A repository that becomes empty is deleted too.
    private mutating func addIfEmpty(_ folder: RepositoryFolder) throws(AIError) {
        guard !gone.contains(folder.path) else { return }
        try read(folder)
        let blobs = try FileSystem.entries(folder.blobs) ?? []
        if snapshots[folder]?.isEmpty ?? true, blobs.allSatisfy({ gone.contains(folder.blob($0)) }) {
            try add(tree: folder.path)
        }
    }

    private mutating func addRefs(naming commit: Commit, below path: String) throws(AIError) {
        for name in try FileSystem.entries(path) ?? [] {
            let child = Path.join(path, name)
            if try FileSystem.linkStatus(child)?.kind == .directory {
                try addRefs(naming: commit, below: child)
                try addIfEmptied(child)
            } else if try FileSystem.text(child)?.filter({ !$0.isWhitespace }) == commit.hash {
                try add(file: child)
            }
        }
    }

    /// A folder after all of its contents.
    private mutating func add(tree path: String) throws(AIError) {
        guard try FileSystem.linkStatus(path)?.kind == .directory else { return try add(file: path) }
        for name in try FileSystem.entries(path) ?? [] { try add(tree: Path.join(path, name)) }
        if gone.insert(path).inserted { append(path, nil) }
    }

    private mutating func add(file path: String) throws(AIError) {
        guard let status = try FileSystem.linkStatus(path), gone.insert(path).inserted else { return }
        guard status.kind == .symlink else {
            append(path, freed.remove(PhysicalFile(status).identity) == nil ? nil : status.size)
            return
        }
        append(path, nil)
        let parts = Path.parts(path)
        guard let text = FileSystem.linkText(path), parts.count > 2, store.exists() else { return }
        let folder = RepositoryFolder(cache: layout, name: String(parts[parts.count - 3]))
        guard Path.parent(path) == folder.blobs, let hash = store.hash(ofLink: text, in: folder) else { return }
        // The payload is deleted with the last link to it.
        let stays = store.references(hash)?.contains { !gone.contains(Path.join(layout.root, $0)) } ?? true
        if !stays { try add(payload: hash) }
    }

    private mutating func add(payload hash: String) throws(AIError) {
        try add(file: store.payload(hash))
        try add(file: store.payload(hash) + ".refs")
    }

    private mutating func append(_ path: String, _ size: Int64?) {
        entries.append(Entry(path: path.dropping(prefix: layout.root + "/") ?? path, size: size))
    }
}
