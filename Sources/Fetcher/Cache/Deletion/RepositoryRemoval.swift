package import HubCore
import Libc

/// The steps by which parts of one repository are deleted. The caller holds ``RepositoryUse``.
///
/// A snapshot, and a repository with its last one, is first set aside by one rename into `.locks`, where Python does not
/// look. What was set aside says which blobs are to follow: if hub is killed, ``finish()`` continues from it.
///
/// Every step starts at the cache's folder and goes down by descriptors, never through a link: nothing outside the
/// cache is deleted, even if a folder is replaced meanwhile.
struct RepositoryRemoval {
    let folder: RepositoryFolder
    /// Files that other processes read are kept.
    var openFiles = OpenFiles()
    fileprivate(set) var tally: FreedTally
    private let store: SharedStore
    /// Payloads of the shared store that removed blobs linked to.
    private var payloads: Set<String> = []

    /// What is set aside below `.locks/<repository>`: a whole repository, and, with its commit appended, a snapshot.
    static let (whole, snapshot) = ("hub.deleted", "hub.deleted.")

    init(folder: RepositoryFolder, openFiles: OpenFiles = OpenFiles(), tally: FreedTally = FreedTally()) {
        (self.folder, self.openFiles, self.tally) = (folder, openFiles, tally)
        store = SharedStore(layout: folder.cache)
    }

    mutating func remove(_ commit: Commit) throws(AIError) {
        guard let top = try folder.open(), try folder.snapshotNames(in: top) != [commit.hash] else {
            return try removeWhole([commit.hash])
        }
        guard let snapshots = try top.ownFolder("snapshots") else { return }
        let aside = try asideFolder()
        // A ref without its snapshot is damage to Python.
        if let refs = try top.ownFolder("refs") { try removeRefs(naming: commit, in: refs) }
        try finish()
        guard let status = try snapshots.status(of: commit.hash), status.kind == .directory else { return }
        do throws(AIError) { try snapshots.move(commit.hash, to: aside, as: Self.snapshot + commit.hash) } catch {
            guard error.errno == EXDEV else { throw error }
            return try removeInPlace(commit, of: snapshots, in: top)
        }
        try finish()
    }

    /// File by file, where a folder cannot be renamed: one of a lower layer of an overlay. If interrupted, an incomplete
    /// revision without a ref is left, or its blobs.
    private mutating func removeInPlace(_ commit: Commit, of snapshots: OpenFolder, in top: OpenFolder)
        throws(AIError)
    {
        guard let gone = try snapshots.ownFolder(OpenFolder.Entry(commit.hash)) else { return }
        let blobs = try gone.linkedBlobNames()
        try empty(gone)
        try snapshots.removeTree(commit.hash)
        try removeNotes(of: commit.hash, in: top)
        try remove(blobs: blobs)
    }

    /// Removes files of a revision, folders that become empty, and blobs that nothing else needs.
    mutating func remove(_ paths: [String], of commit: Commit) throws(AIError) {
        guard let snapshot = try folder.open()?.ownFolder("snapshots/\(commit.hash)") else { return }
        var blobs: Set<String> = []
        for path in paths {
            guard let (place, name) = try snapshot.place(of: path), let status = try place.status(of: name) else {
                continue
            }
            if let blob = folder.blob(ofLink: OpenFolder.Entry(name), in: place) { blobs.insert(blob) }
            if try place.remove(name) { tally.add(status) }
            try snapshot.removeEmptyFolders(above: path)
        }
        try remove(blobs: blobs)
    }

    private func removeRefs(naming commit: Commit, in place: OpenFolder) throws(AIError) {
        for entry in try place.entries() {
            if try place.status(of: entry)?.kind == .directory {
                if let inner = try place.ownFolder(entry) { try removeRefs(naming: commit, in: inner) }
                try place.removeEmptyFolder(entry)
            } else if try place.isRef(entry, to: commit) {
                try place.remove(entry)
            }
        }
    }

    // MARK: Blobs

    /// Removes those entries of `blobs/` that no snapshot links to, and the repository if it is empty then.
    mutating func remove(blobs names: Set<String>) throws(AIError) {
        try remove(names, into: nil)
        try removeIfEmpty()
    }

    /// The locks come first: the holder of a lock may be about to make a link.
    ///
    /// - Parameter gone: takes links into the shared store, so that ``finish()`` finds their payloads.
    private mutating func remove(_ names: Set<String>, into gone: OpenFolder?) throws(AIError) {
        let folder = folder
        try folder.withBlobLocks(names) { names throws(AIError) in
            guard let top = try folder.open(), let blobs = try top.ownFolder("blobs") else { return }
            let needed = try top.ownFolder("snapshots").map { snapshots throws(AIError) in
                try folder.linkedBlobs(in: snapshots)
            }
            for name in names where needed?.contains(name) != true {
                try remove(name, in: blobs, into: gone)
            }
        }
        try removePayloads()
    }

    private mutating func remove(_ name: String, in blobs: OpenFolder, into gone: OpenFolder?) throws(AIError) {
        // A folder is not a blob.
        guard let status = try blobs.status(of: name), status.kind != .directory else { return }
        if let target = try blobs.target(name), openFiles.users[PhysicalFile(target).identity] != nil { return }
        if let hash = blobs.linkText(name).flatMap({ store.hash(ofLink: $0, in: folder) }), store.exists() {
            payloads.insert(hash)
            if let gone { return try blobs.move(name, to: gone, as: name) }
        }
        if try blobs.remove(name) { tally.add(status) }
    }

    /// Remembers the payload that a link leads to.
    private mutating func note(_ link: String) {
        if let hash = store.hash(ofLink: link, in: folder) { payloads.insert(hash) }
    }

    private mutating func removePayloads() throws(AIError) {
        for hash in payloads { try store.remove(unused: hash, sparing: openFiles, &tally) }
        payloads = []
    }

    // MARK: The whole folder

    /// A folder without snapshots and blobs is removed.
    mutating func removeIfEmpty() throws(AIError) {
        guard let top = try folder.open(), try folder.snapshotNames(in: top).isEmpty,
            try !folder.hasBlobs(in: top)
        else { return }
        try removeWhole([], isEmpty: true)
    }

    /// Removes the repository with all that is in it.
    ///
    /// - Parameters:
    ///   - snapshots: what there is of them; with others it stays.
    ///   - isEmpty: whether it stays if it has a blob.
    mutating func removeWhole(_ snapshots: [String], isEmpty: Bool = false) throws(AIError) {
        // A folder of any other name is not ours, above all the cache itself.
        guard RepositoryFolder.isName(folder.name), let top = try folder.open(),
            try folder.snapshotNames(in: top) == snapshots
        else { return }
        try finish()
        let (root, aside) = (try OpenFolder.open(existing: folder.cache.root), try asideFolder())
        do throws(AIError) { try root.move(folder.name, to: aside, as: Self.whole) } catch {
            guard error.errno == EXDEV else { throw error }
            return try removeWholeInPlace(snapshots, top)
        }
        guard let moved = try aside.ownFolder(Self.whole), try folder.snapshotNames(in: moved) == snapshots,
            try isEmpty ? !folder.hasBlobs(in: moved) : true
        else {
            // Another client used the folder before the rename.
            return try aside.move(Self.whole, to: root, as: folder.name)
        }
        try finish()
    }

    /// As ``removeInPlace(_:of:in:)``.
    private mutating func removeWholeInPlace(_ names: [String], _ top: OpenFolder) throws(AIError) {
        // A ref without its snapshot is damage to Python.
        try top.removeTree("refs")
        if let snapshots = try top.ownFolder("snapshots") {
            for name in names {
                if let gone = try snapshots.ownFolder(OpenFolder.Entry(name)) { try empty(gone) }
                try snapshots.removeTree(name)
            }
        }
        if let blobs = try top.ownFolder("blobs") { try remove(Set(blobs.entries().map(\.name)), into: nil) }
        // Another client may have begun to use the folder.
        guard try folder.snapshotNames(in: top).isEmpty, try !folder.hasBlobs(in: top) else { return }
        try OpenFolder.open(existing: folder.cache.root).removeTree(folder.name)
    }

    // MARK: What was set aside

    /// `.locks/<repository>`; the cache's folder if it is behind a link, which is not followed.
    private func asideFolder() throws(AIError) -> OpenFolder {
        let root = try OpenFolder.open(existing: folder.cache.root)
        var place = root
        for name in [".locks", folder.name] {
            if try place.status(of: name)?.kind == .symlink { return root }
            place = try place.makeFolder(OpenFolder.Entry(name))
        }
        return place
    }

    /// Deletes what was set aside, now or before an interruption, with the blobs that only it needed.
    mutating func finish() throws(AIError) {
        let aside = try asideFolder()
        if let gone = try aside.ownFolder(Self.whole) {
            for text in try gone.linkTexts() { note(text) }
            try removePayloads()
            if let blobs = try gone.ownFolder("blobs") { try empty(blobs) }
            if let snapshots = try gone.ownFolder("snapshots") { try empty(snapshots) }
            try aside.removeTree(Self.whole)
        }
        for entry in try aside.entries() {
            guard let commit = entry.name.dropping(prefix: Self.snapshot),
                let gone = try aside.ownFolder(entry)
            else { continue }
            for text in try gone.linkTexts() { note(text) }
            try remove(gone.linkedBlobNames(), into: gone)
            if let top = try folder.open() { try removeNotes(of: commit, in: top) }
            try empty(gone)
            try aside.removeTree(entry)
            try removeIfEmpty()
        }
    }

    /// Removes what is noted of a commit. A link in the folders' place is not followed; they contain no model files.
    private func removeNotes(of commit: String, in top: OpenFolder) throws(AIError) {
        if try top.status(of: "trees")?.kind == .directory, let trees = try top.ownFolder("trees") {
            try trees.remove(commit + ".json")
            try top.removeEmptyFolder("trees")
        }
        if try top.status(of: ".no_exist")?.kind == .directory, let missing = try top.ownFolder(".no_exist") {
            try missing.removeTree(commit)
            try top.removeEmptyFolder(".no_exist")
        }
    }

    /// Deletes and counts what is in a folder, but for file managers' files, which no plan counts.
    private mutating func empty(_ place: OpenFolder) throws(AIError) {
        var tally = tally
        defer { self.tally = tally }
        for entry in try place.entries() where !RepositoryFolder.isLitter(entry.name) {
            try place.removeTree(entry) { tally.add($0) }
        }
    }
}

extension CacheLayout {
    /// Finishes deletions in this cache that were interrupted; those of running processes are left to them.
    ///
    /// - Returns: the bytes freed, and the errors of what could not be finished.
    package func finishDeletions() -> (freed: Int64, faults: [AIError]) {
        var (freed, faults): (Int64, [AIError]) = (0, [])
        let locks = Path.join(root, ".locks")
        do throws(AIError) {
            for name in try FileSystem.entries(locks) ?? [] where RepositoryFolder.isName(name) {
                let folder = RepositoryFolder(cache: self, name: name)
                let aside = try FileSystem.entries(folder.locks)?.first { $0.hasPrefix(RepositoryRemoval.whole) }
                guard let path = aside.map({ Path.join(folder.locks, $0) }) else { continue }
                var removal = RepositoryRemoval(folder: folder)
                defer { freed += removal.tally.freed.size }
                do throws(AIError) {
                    removal.tally.blocks = try SharedBlocks(below: [folder.blobs, folder.locks])
                    // A repository that is set aside is locked itself.
                    let lock = try FileDescriptor(path, [.directory])
                    guard let claim = try RepositoryUse.claim(folder), try lock.tryLock() != false else { continue }
                    try removal.finish()
                    withExtendedLifetime(claim) {}
                    withExtendedLifetime(lock) {}
                } catch {
                    faults.append(error)
                }
            }
        } catch {
            faults.append(error)
        }
        return (freed, faults)
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

    fileprivate func hasBlobs(in top: OpenFolder) throws(AIError) -> Bool {
        try top.ownFolder("blobs")?.entries().isEmpty == false
    }
}

extension OpenFolder {
    /// The texts of all links below.
    func linkTexts() throws(AIError) -> [String] {
        var out: [String] = []
        for entry in try entries() {
            if let text = linkText(entry) {
                out.append(text)
            } else if try status(of: entry)?.kind == .directory, let inner = try ownFolder(entry) {
                out += try inner.linkTexts()
            }
        }
        return out
    }

    /// The entries of `blobs/` that links below led to when this was in its repository.
    func linkedBlobNames() throws(AIError) -> Set<String> { Set(try linkTexts().compactMap(Self.blobName)) }

    static func blobName(_ link: String) -> String? {
        Path.name(Path.parent(link)) == "blobs" ? Path.name(link) : nil
    }

    /// Whether a file is a ref to a commit.
    func isRef(_ entry: Entry, to commit: Commit) throws(AIError) -> Bool {
        guard entry.isText, let bytes = try contents(entry.name, limit: 4096) else { return false }
        return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace } == commit.hash
    }
}
