import HubCore

/// The steps by which parts of one repository are deleted. The caller holds ``RepositoryUse``.
///
/// Every step starts at the cache's folder and goes down by descriptors, never through a link: nothing outside the
/// cache is deleted, even if a folder is replaced meanwhile.
struct RepositoryRemoval {
    let folder: RepositoryFolder
    /// Files that other processes read are kept.
    let openFiles: OpenFiles
    private(set) var freed = FreedBytes()
    /// Whether anything was deleted.
    private(set) var hasRemoved = false
    private let store: SharedStore

    init(folder: RepositoryFolder, openFiles: OpenFiles) {
        (self.folder, self.openFiles) = (folder, openFiles)
        store = SharedStore(layout: folder.cache)
    }

    // MARK: Revisions

    /// - Parameter left: entries of `blobs/` in the plan that, after an interruption, nothing links to any more.
    mutating func remove(_ commit: Commit, left: Set<String>) throws(AIError) {
        guard let top = try folder.open() else { return }
        if let refs = try top.ownFolder("refs") { try removeRefs(naming: commit, in: refs) }
        var blobs = left
        if let snapshots = try top.ownFolder("snapshots"), let snapshot = try snapshots.ownFolder(commit.hash) {
            try removeFiles(in: snapshot, blobs: &blobs)
            if try snapshots.removeEmptyFolder(commit.hash) { hasRemoved = true }
        }
        if try folder.snapshotNames(in: top).isEmpty { return try removeRemains() }
        try remove(orphans: blobs)
        // A link in their place is not followed; they contain no model files.
        if try top.status(of: "trees")?.kind == .directory, let trees = try top.ownFolder("trees") {
            try trees.remove(commit.hash + ".json")
            try top.removeEmptyFolder("trees")
        }
        if try top.status(of: ".no_exist")?.kind == .directory, let missing = try top.ownFolder(".no_exist") {
            try missing.removeTree(commit.hash)
            try top.removeEmptyFolder(".no_exist")
        }
    }

    /// Removes files of a revision, folders that become empty, and blobs that nothing else needs.
    mutating func remove(_ paths: [String], of commit: Commit) throws(AIError) {
        guard let snapshot = try folder.open()?.ownFolder("snapshots/\(commit.hash)") else { return }
        var blobs: Set<String> = []
        for path in paths {
            guard let (place, name) = try snapshot.place(of: path) else { continue }
            try removeEntry(OpenFolder.Entry(name), in: place, blobs: &blobs)
            try snapshot.removeEmptyFolders(above: path)
        }
        try remove(orphans: blobs)
    }

    private mutating func removeRefs(naming commit: Commit, in place: OpenFolder) throws(AIError) {
        for entry in try place.entries() {
            if try place.status(of: entry)?.kind == .directory {
                if let inner = try place.ownFolder(entry) { try removeRefs(naming: commit, in: inner) }
                try place.removeEmptyFolder(entry)
            } else if try place.isRef(entry, to: commit) {
                if try place.remove(entry) { hasRemoved = true }
            }
        }
    }

    /// Removes a snapshot's entries and collects the blobs they linked to.
    private mutating func removeFiles(in place: OpenFolder, blobs: inout Set<String>) throws(AIError) {
        for entry in try place.entries() {
            if try place.status(of: entry)?.kind == .directory {
                if let inner = try place.ownFolder(entry) { try removeFiles(in: inner, blobs: &blobs) }
                try place.removeEmptyFolder(entry)
            } else {
                try removeEntry(entry, in: place, blobs: &blobs)
            }
        }
    }

    private mutating func removeEntry(
        _ entry: OpenFolder.Entry, in place: OpenFolder, blobs: inout Set<String>
    ) throws(AIError) {
        guard let status = try place.status(of: entry) else { return }
        if let blob = folder.blob(ofLink: entry, in: place) { blobs.insert(blob) }
        guard try place.remove(entry) else { return }
        hasRemoved = true
        freed.add(status)
    }

    // MARK: Blobs

    mutating func remove(partials names: [String]) throws(AIError) {
        let folder = folder
        try folder.withBlobLocks(Set(names)) { names throws(AIError) in try removeBlobs(names) }
        try removeIfEmpty()
    }

    /// Removes those entries of `blobs/` that no snapshot links to. The locks come first: the holder of a lock may be
    /// about to make a link.
    mutating func remove(orphans names: Set<String>) throws(AIError) {
        guard !names.isEmpty else { return }
        let folder = folder
        try folder.withBlobLocks(names) { names throws(AIError) in
            guard let top = try folder.open() else { return }
            let needed = try top.ownFolder("snapshots").map { snapshots throws(AIError) in
                try folder.linkedBlobs(in: snapshots)
            }
            try removeBlobs(names.filter { needed?.contains($0) != true })
        }
        try removeIfEmpty()
    }

    private mutating func removeBlobs(_ names: [String]) throws(AIError) {
        guard let blobs = try folder.open()?.ownFolder("blobs") else { return }
        for name in names { try removeBlob(name, in: blobs) }
    }

    private mutating func removeBlob(_ name: String, in blobs: OpenFolder) throws(AIError) {
        // A folder is not a blob.
        guard let status = try blobs.status(of: name), status.kind != .directory else { return }
        if let target = try blobs.target(name), openFiles.users[PhysicalFile(target).identity] != nil { return }
        let hash = blobs.linkText(name).flatMap { store.exists() ? store.hash(ofLink: $0, in: folder) : nil }
        guard try blobs.remove(name) else { return }
        hasRemoved = true
        if let hash {
            freed += try PayloadRemoval(store: store, openFiles: openFiles).remove(hash)
        } else {
            freed.add(status)
        }
    }

    // MARK: The whole folder

    /// Removes the rest of a repository without snapshots.
    mutating func removeRemains() throws(AIError) {
        // A pull may have put a snapshot there since.
        let folder = folder
        guard let top = try folder.open(), try folder.snapshotNames(in: top).isEmpty else { return }
        try top.removeTree("refs")
        if let blobs = try top.ownFolder("blobs") {
            let names = Set(try blobs.entries().filter(\.isText).map(\.name))
            try folder.withBlobLocks(names) { names throws(AIError) in try removeBlobs(names) }
        }
        try removeIfEmpty()
    }

    /// Removes a repository that has become empty. Python reports a folder without `snapshots` as damaged, so it is
    /// first renamed to where Python does not look.
    private mutating func removeIfEmpty() throws(AIError) {
        // A folder of any other name is not ours, above all the cache itself.
        guard RepositoryFolder.isName(folder.name), let root = try OpenFolder.open(folder.cache.root),
            let top = try root.ownFolder(folder.name), try folder.snapshotNames(in: top).isEmpty
        else { return }
        // A blob added meanwhile is kept.
        try top.removeEmptyFolder("blobs")
        guard try top.status(of: "blobs") == nil else { return }
        hasRemoved = true
        for entry in try top.entries() where entry.name != "snapshots" { try top.removeTree(entry) }
        guard let aside = try lockFolder(in: root) else { return try removeInPlace(top, in: root) }
        let name = "hub.deleted"
        try aside.removeTree(name)
        try root.move(folder.name, to: aside, as: name)
        guard let moved = try aside.ownFolder(name), try folder.snapshotNames(in: moved).isEmpty,
            try moved.entries().count <= 1
        else {
            // Another client used the folder before the rename.
            return try aside.move(name, to: root, as: folder.name)
        }
        try aside.removeTree(name)
    }

    /// `.locks/<repository>`; nil if it is behind a link, which is not followed.
    private func lockFolder(in root: OpenFolder) throws(AIError) -> OpenFolder? {
        var place = root
        for name in [".locks", folder.name] {
            if let status = try place.status(of: name), status.kind != .directory { return nil }
            place = try place.makeFolder(OpenFolder.Entry(name))
        }
        return place
    }

    /// In two steps, between which Python would find a folder without `snapshots`.
    private func removeInPlace(_ top: OpenFolder, in root: OpenFolder) throws(AIError) {
        if let snapshots = try top.ownFolder("snapshots") {
            for entry in try snapshots.entries() where RepositoryFolder.isLitter(entry.name) {
                try snapshots.remove(entry)
            }
        }
        if try top.removeEmptyFolder("snapshots") { try root.removeEmptyFolder(folder.name) }
    }
}

extension RepositoryFolder {
    /// Opens the folder for a deletion: from the cache's own, not through a link. nil if it is gone.
    func open() throws(AIError) -> OpenFolder? {
        try OpenFolder.open(cache.root)?.ownFolder(OpenFolder.Entry(name))
    }

    /// As ``snapshotNames()``, of the open folder.
    fileprivate func snapshotNames(in top: OpenFolder) throws(AIError) -> [String] {
        let entries = try top.ownFolder("snapshots")?.entries() ?? []
        return entries.map(\.name).filter { !Self.isLitter($0) }
    }
}

extension OpenFolder {
    /// Whether a file is a ref to a commit.
    func isRef(_ entry: Entry, to commit: Commit) throws(AIError) -> Bool {
        guard entry.isText, let bytes = try contents(entry.name, limit: 4096) else { return false }
        return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace } == commit.hash
    }
}
